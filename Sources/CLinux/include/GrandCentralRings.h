// Transfers that the kernel performs beside the thread: io_uring(7).
#ifndef GRANDCENTRAL_RINGS_H
#define GRANDCENTRAL_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "GrandCentralTransfers.h"

// Rings.c. An io_uring(7), with the words that the kernel shares. One thread adds and enters; one
// thread at a time takes completions. A completion carries the key of its request.
typedef struct gc_uring {
  int descriptor;
  int wakeDescriptor;
  uint32_t entry_count;
  uint32_t completion_count;
  void *_Nullable base;
  void *_Nullable entries;
  size_t bytes;
  size_t entry_bytes;
  uint32_t *_Nullable submitted_head;  // written by the kernel
  uint32_t *_Nullable submitted_tail;
  uint32_t *_Nullable completed_head;
  uint32_t *_Nullable completed_tail;  // written by the kernel
  uint32_t *_Nullable completion_flags;
  void *_Nullable completions;
} gc_uring;
typedef struct gc_uring_completion {
  uint64_t key;
  int32_t result;  // bytes or a negative errno
} gc_uring_completion;
// Makes a close-on-exec ring that signals an eventfd(2) for completions. `ring` must not move.
// Returns 0 or an errno; ENOSYS also if the kernel is older than 5.12. A forked child has no ring.
// One ring at a time.
int gc_uring_make(gc_uring *_Nonnull ring, uint32_t entries, int wakeDescriptor);
void gc_uring_free(gc_uring *_Nonnull ring);
// Forgets the descriptors: the program has closed them, and the numbers may be the program's. Later
// requests are refused; completions of earlier ones still come, without a signal. Any thread.
void gc_uring_lose(gc_uring *_Nonnull ring);
// Whether this process was forked from one that had a ring.
bool gc_uring_is_inherited(void);
// Each adds a request; false: there is no room. Buffers must live until the completion, stretches
// until gc_uring_enter() has taken them. The priority is in the form of gc_io_priority_set(); 0:
// that of the thread that enters.
bool gc_uring_add_read(
    gc_uring *_Nonnull ring, uint64_t key, int descriptor, void *_Nonnull buffer, uint32_t bytes,
    int64_t offset, int priority);
bool gc_uring_add_write(
    gc_uring *_Nonnull ring, uint64_t key, int descriptor, const gc_stretch *_Nonnull stretches,
    uint32_t count, int64_t offset, int priority);
bool gc_uring_add_cancel(gc_uring *_Nonnull ring, uint64_t key, uint64_t other);
// Submits the added requests to the kernel. Returns the number that it took, or a negative errno.
int gc_uring_enter(gc_uring *_Nonnull ring);
// Removes the last request that the kernel did not take; false: there is none.
bool gc_uring_take_back(gc_uring *_Nonnull ring, uint64_t *_Nonnull key);
// Takes the next completion; false: there is none yet.
bool gc_uring_next(gc_uring *_Nonnull ring, gc_uring_completion *_Nonnull completion);
// Sets whether completions signal the eventfd. A caller that enables it looks for completions
// afterwards.
void gc_uring_set_eventfd(gc_uring *_Nonnull ring, bool enables);

#endif
