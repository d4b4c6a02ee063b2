// A ring of transfers: io_uring(7), by its system calls. One thread submits; completions are taken
// under the caller's lock. Policy is in Swift.
#define _GNU_SOURCE
#include "Descriptors.h"
#include "GrandCentralFork.h"
#include "GrandCentralRings.h"
#include "GrandCentralTransfers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif

// The ring of this process. A forked child must not touch it: it has the parent's, at the same
// address.
static gc_uring *own_ring;
static bool is_inherited;

void gc_uring_leave_to_parent(void) {
  gc_uring *ring = own_ring;
  if (!ring) return;
  // Once: the child may reuse the numbers, and a child of its own must not close them again.
  own_ring = NULL;
  is_inherited = true;
  // Closes the child's references only. MADV_DONTFORK has removed the memory already.
  gc_close_inherited(ring->descriptor);
  gc_close_inherited(ring->wakeDescriptor);
}

void gc_uring_lose(gc_uring *ring) {
  // relaxed: the submitting thread may still use the old number once.
  __atomic_store_n(&ring->descriptor, -1, __ATOMIC_RELAXED);
  ring->wakeDescriptor = -1;
}

bool gc_uring_is_inherited(void) { return is_inherited; }

#if defined(SYS_io_uring_setup) && defined(IORING_FEAT_NATIVE_WORKERS)

// Maps a part of the ring, which a forked child does not get. Returns MAP_FAILED with errno set on
// failure.
static void *map_part(const gc_uring *ring, size_t bytes, uint64_t part) {
  void *start = mmap(
      NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->descriptor,
      (off_t)part);
  if (start != MAP_FAILED) madvise(start, bytes, MADV_DONTFORK);
  return start;
}

static int64_t map(gc_uring *ring, const struct io_uring_params *parameters) {
  size_t submissions = parameters->sq_off.array + parameters->sq_entries * sizeof(uint32_t);
  size_t completions =
      parameters->cq_off.cqes + parameters->cq_entries * sizeof(struct io_uring_cqe);
  // IORING_FEAT_SINGLE_MMAP is older than the features required below.
  ring->bytes = submissions > completions ? submissions : completions;
  ring->entry_bytes = parameters->sq_entries * sizeof(struct io_uring_sqe);
  void *base = map_part(ring, ring->bytes, IORING_OFF_SQ_RING);
  if (base == MAP_FAILED) return -errno;
  ring->base = base;
  void *entries = map_part(ring, ring->entry_bytes, IORING_OFF_SQES);
  if (entries == MAP_FAILED) {
    int error = errno;
    munmap(ring->base, ring->bytes);
    return -error;
  }
  ring->entries = entries;
  return 0;
}

static uint32_t *word(const gc_uring *ring, uint32_t offset) {
  return (uint32_t *)(void *)((char *)ring->base + offset);
}

static int refuse(gc_uring *ring, int error) {
  close(ring->descriptor);
  return error;
}

int gc_uring_make(gc_uring *ring, uint32_t entries, int wakeDescriptor) {
  struct io_uring_params parameters;
  memset(&parameters, 0, sizeof parameters);
  memset(ring, 0, sizeof *ring);
  // Always close-on-exec: io_uring_setup(2).
  ring->descriptor = above_standard((int)syscall(SYS_io_uring_setup, entries, &parameters));
  if (ring->descriptor < 0) return errno;
  // 5.12: threads of this process make the transfers that may wait, and no completion is dropped.
  uint32_t needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE |
                    IORING_FEAT_NATIVE_WORKERS;
  if ((parameters.features & needed) != needed) return refuse(ring, ENOSYS);
  if (syscall(
          SYS_io_uring_register, ring->descriptor, IORING_REGISTER_EVENTFD, &wakeDescriptor, 1) < 0)
    return refuse(ring, errno);
  int64_t error = map(ring, &parameters);
  if (error < 0) return refuse(ring, (int)-error);
  ring->wakeDescriptor = wakeDescriptor;
  ring->entry_count = parameters.sq_entries;
  ring->completion_count = parameters.cq_entries;
  ring->submitted_head = word(ring, parameters.sq_off.head);
  ring->submitted_tail = word(ring, parameters.sq_off.tail);
  ring->completed_head = word(ring, parameters.cq_off.head);
  ring->completed_tail = word(ring, parameters.cq_off.tail);
  ring->completion_flags = word(ring, parameters.cq_off.flags);
  ring->completions = (char *)ring->base + parameters.cq_off.cqes;
  uint32_t *order = word(ring, parameters.sq_off.array);
  for (uint32_t index = 0; index < ring->entry_count; index++) order[index] = index;
  own_ring = ring;
  return 0;
}

void gc_uring_free(gc_uring *ring) {
  if (own_ring == ring) own_ring = NULL;
  munmap(ring->entries, ring->entry_bytes);
  munmap(ring->base, ring->bytes);
  close(ring->descriptor);
}

// Returns a free entry, or NULL if there is none. Only the submitting thread writes the tail, and
// the kernel reads it only in gc_uring_enter().
static struct io_uring_sqe *next_entry(gc_uring *ring, uint64_t key) {
  uint32_t tail = *ring->submitted_tail;
  // acquire: pairs with the kernel's release after it has read an entry.
  if (tail - __atomic_load_n(ring->submitted_head, __ATOMIC_ACQUIRE) == ring->entry_count)
    return NULL;
  struct io_uring_sqe *entry =
      (struct io_uring_sqe *)ring->entries + (tail & (ring->entry_count - 1));
  memset(entry, 0, sizeof *entry);
  entry->user_data = key;
  // release: pairs with the kernel's acquire in io_uring_enter(2).
  __atomic_store_n(ring->submitted_tail, tail + 1, __ATOMIC_RELEASE);
  return entry;
}

bool gc_uring_add_read(
    gc_uring *ring, uint64_t key, int descriptor, void *buffer, uint32_t bytes, int64_t offset,
    int priority) {
  struct io_uring_sqe *entry = next_entry(ring, key);
  if (!entry) return false;
  entry->ioprio = (uint16_t)priority;
  entry->opcode = IORING_OP_READ;
  entry->fd = descriptor;
  entry->addr = (uint64_t)(uintptr_t)buffer;
  entry->len = bytes;
  entry->off = (uint64_t)offset;
  return true;
}

bool gc_uring_add_write(
    gc_uring *ring, uint64_t key, int descriptor, const gc_stretch *stretches, uint32_t count,
    int64_t offset, int priority) {
  struct io_uring_sqe *entry = next_entry(ring, key);
  if (!entry) return false;
  entry->ioprio = (uint16_t)priority;
  entry->opcode = IORING_OP_WRITEV;
  entry->fd = descriptor;
  entry->addr = (uint64_t)(uintptr_t)stretches;
  entry->len = count;
  entry->off = (uint64_t)offset;
  return true;
}

bool gc_uring_add_cancel(gc_uring *ring, uint64_t key, uint64_t other) {
  struct io_uring_sqe *entry = next_entry(ring, key);
  if (!entry) return false;
  entry->opcode = IORING_OP_ASYNC_CANCEL;
  entry->fd = -1;
  entry->addr = other;
  return true;
}

int gc_uring_enter(gc_uring *ring) {
  uint32_t waiting =
      *ring->submitted_tail - __atomic_load_n(ring->submitted_head, __ATOMIC_ACQUIRE);
  if (waiting == 0) return 0;
  // A size_t, because the kernel reads one: the upper half of an int argument's register is
  // undefined, syscall(2).
  int descriptor = __atomic_load_n(&ring->descriptor, __ATOMIC_RELAXED);
  long taken = syscall(SYS_io_uring_enter, descriptor, waiting, 0, 0, NULL, (size_t)0);
  return taken < 0 ? -errno : (int)taken;
}

bool gc_uring_take_back(gc_uring *ring, uint64_t *key) {
  uint32_t tail = *ring->submitted_tail;
  if (tail == __atomic_load_n(ring->submitted_head, __ATOMIC_ACQUIRE)) return false;
  *key = ((struct io_uring_sqe *)ring->entries + ((tail - 1) & (ring->entry_count - 1)))->user_data;
  __atomic_store_n(ring->submitted_tail, tail - 1, __ATOMIC_RELEASE);
  return true;
}

bool gc_uring_next(gc_uring *ring, gc_uring_completion *completion) {
  uint32_t head = *ring->completed_head;
  // seq_cst, which includes acquire: see gc_uring_set_eventfd().
  if (head == __atomic_load_n(ring->completed_tail, __ATOMIC_SEQ_CST)) return false;
  const struct io_uring_cqe *next = (const struct io_uring_cqe *)ring->completions +
                                    (head & (ring->completion_count - 1));
  completion->key = next->user_data;
  completion->result = next->res;
  // release: the kernel may overwrite the entry once it sees this.
  __atomic_store_n(ring->completed_head, head + 1, __ATOMIC_RELEASE);
  return true;
}

void gc_uring_set_eventfd(gc_uring *ring, bool enables) {
  // seq_cst, with the load in gc_uring_next(). The kernel stores the tail and then, after a full
  // barrier (that of its check for sleepers), reads this word. We store this word and then load the
  // tail. So either the kernel sees that it must signal, or we see the completion. An exchange,
  // because a plain store orders nothing after it.
  (void)__atomic_exchange_n(
      ring->completion_flags, enables ? 0 : IORING_CQ_EVENTFD_DISABLED, __ATOMIC_SEQ_CST);
}

#else

// Headers without io_uring.
int gc_uring_make(gc_uring *ring, uint32_t entries, int wakeDescriptor) {
  (void)ring, (void)entries, (void)wakeDescriptor;
  return ENOSYS;
}
void gc_uring_free(gc_uring *ring) { (void)ring; }
bool gc_uring_add_read(
    gc_uring *ring, uint64_t key, int descriptor, void *buffer, uint32_t bytes, int64_t offset,
    int priority) {
  (void)ring, (void)key, (void)descriptor, (void)buffer, (void)bytes, (void)offset, (void)priority;
  return false;
}
bool gc_uring_add_write(
    gc_uring *ring, uint64_t key, int descriptor, const gc_stretch *stretches, uint32_t count,
    int64_t offset, int priority) {
  (void)ring, (void)key, (void)descriptor, (void)stretches, (void)count, (void)offset;
  (void)priority;
  return false;
}
bool gc_uring_add_cancel(gc_uring *ring, uint64_t key, uint64_t other) {
  (void)ring, (void)key, (void)other;
  return false;
}
int gc_uring_enter(gc_uring *ring) { return (void)ring, -ENOSYS; }
bool gc_uring_take_back(gc_uring *ring, uint64_t *key) { return (void)ring, (void)key, false; }
bool gc_uring_next(gc_uring *ring, gc_uring_completion *completion) {
  return (void)ring, (void)completion, false;
}
void gc_uring_set_eventfd(gc_uring *ring, bool enables) { (void)ring, (void)enables; }

#endif
