// The memory of the board, which other processes of the user read: see BlackBox, in the core.
#define _GNU_SOURCE
#include "Descriptors.h"
#include "GrandCentralBoardPage.h"
#include "GrandCentralFork.h"
#include "GrandCentralFrames.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// The board's file. The program may close every descriptor that it does not know, and open others
// under the same number, so the number alone identifies nothing.
static struct {
  int descriptor;
  dev_t device;
  ino_t inode;
} board_file = {.descriptor = -1};

// The file to remove when the process ends by exit().
static char board_path[512];
static pid_t board_owner;

static void remove_file(void) {
  if (board_path[0] != 0 && board_owner == getpid()) unlink(board_path);
}

// Opens the folder and checks that only this user can reach it, and that it is in memory: on a disk
// a page that is written back would stall its writers.
static int open_folder(const char *folder) {
  if (getauxval(AT_SECURE) != 0) return errno = EPERM, -1;
  mkdir(folder, 0700);
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat status;
  struct statfs system;
  int error = 0;
  if (fstat(descriptor, &status) != 0 || fstatfs(descriptor, &system) != 0) {
    error = errno;
  } else if (status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    error = EPERM;
  } else if (system.f_type != TMPFS_MAGIC) {
    error = EMEDIUMTYPE;
  }
  if (error == 0) return descriptor;
  close(descriptor);
  return errno = error, -1;
}

static int make_file(const char *folder, size_t bytes) {
  int directory = open_folder(folder);
  if (directory < 0) return -1;
  char name[32];
  snprintf(name, sizeof name, "grandcentral-%d", (int)getpid());
  // A file of this name belongs to a process that has ended.
  unlinkat(directory, name, 0);
  int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = openat(directory, name, flags, 0600);
  // All at once: where tmpfs is full, the first write to a page would end the process.
  int error = descriptor < 0 ? errno : posix_fallocate(descriptor, 0, (off_t)bytes);
  if (descriptor >= 0 && error != 0) {
    unlinkat(directory, name, 0);
    close(descriptor);
  }
  close(directory);
  if (error != 0) return errno = error, -1;
  int length = snprintf(board_path, sizeof board_path, "%s/%s", folder, name);
  if (length >= (int)sizeof board_path) board_path[0] = 0;
  if (board_owner == 0) atexit(remove_file);
  board_owner = getpid();
  return descriptor;
}

static int make_anonymous_file(size_t bytes) {
  // Beyond this limit ftruncate(2) raises SIGXFSZ, which ends the process.
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) return errno = EFBIG, -1;
  int descriptor = above_standard(memfd_create("grandcentral", MFD_CLOEXEC));
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)bytes) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return errno = error, -1;
}

struct gc_board_page gc_board_page;

// Maps the first page of a board over gc_board_page; -1: a page of zeros. Not by mmap(), in which
// the thread sanitizer sees a write that races with each thread that reads the page. Returns
// whether it is mapped. If the system refuses it to a forked child, the child reads the parent's
// word and has no board to record on.
static bool map_page(int descriptor) {
  int flags = MAP_FIXED | (descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  return syscall(SYS_mmap, &gc_board_page, sizeof gc_board_page, PROT_READ, flags, descriptor, 0L)
         != -1;
}

void *gc_board_map(const char *folder, size_t bytes) {
  int descriptor = folder != NULL ? make_file(folder, bytes) : make_anonymous_file(bytes);
  if (descriptor < 0) return NULL;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  struct stat status;
  if (memory == MAP_FAILED || fstat(descriptor, &status) != 0
      || madvise(memory, bytes, MADV_DONTFORK) != 0 || !map_page(descriptor)) {
    int error = errno;
    if (memory != MAP_FAILED) munmap(memory, bytes);
    remove_file();
    close(descriptor);
    return errno = error, NULL;
  }
  board_file.descriptor = descriptor;
  board_file.device = status.st_dev;
  board_file.inode = status.st_ino;
  return memory;
}

// The reader of boards stands above the engine, and a program need not link it.
extern void gc_board_was_made(void) __attribute__((weak));
extern char *gc_board_holders(void) __attribute__((weak));

void gc_board_made(void) {
  if (gc_board_was_made != NULL) gc_board_was_made();
}

char *gc_board_holders_of_process(void) {
  return gc_board_holders != NULL ? gc_board_holders() : NULL;
}

void gc_board_name(char *name, bool of_program) {
  memset(name, 0, 16);
  if (of_program) {
    memcpy(name, program_invocation_short_name, strnlen(program_invocation_short_name, 15));
  } else {
    prctl(PR_GET_NAME, name);
  }
}

static inline uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t gc_monotonic(void) { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t gc_monotonic_coarse(void) { return nanoseconds(CLOCK_MONOTONIC_COARSE); }

gc_stack_bounds gc_stack_bounds_of_thread(void) {
  gc_stack_bounds bounds = {0, 0};
  pthread_attr_t attributes;
  void *low = NULL;
  size_t bytes = 0;
  int saved = errno;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
      bounds.low = (uintptr_t)low;
      bounds.high = bounds.low + bytes;
    }
    pthread_attr_destroy(&attributes);
  }
  errno = saved;
  return bounds;
}

bool gc_are_of_one_image(uintptr_t code, uintptr_t other) {
#ifdef DLFO_EH_SEGMENT_TYPE
  struct dl_find_object image;
  return _dl_find_object((void *)code, &image) == 0 && other >= (uintptr_t)image.dlfo_map_start
      && other < (uintptr_t)image.dlfo_map_end;
#else
  // A C library before glibc 2.35.
  (void)code, (void)other;
  return false;
#endif
}

bool gc_counts_ticks(void) {
#if defined(__x86_64__)
  char name[4] = {0};
  const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  ssize_t count = read(descriptor, name, sizeof name);
  close(descriptor);
  return count == 4 && memcmp(name, "tsc\n", 4) == 0;
#else
  return false;
#endif
}

void gc_board_leave_to_parent(void) {
  map_page(-1);
  struct stat status;
  int descriptor = board_file.descriptor;
  board_file.descriptor = -1;
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == board_file.device
      && status.st_ino == board_file.inode) {
    close(descriptor);
  }
}
