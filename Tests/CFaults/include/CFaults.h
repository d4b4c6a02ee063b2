// What a process can do to itself to see how the engine bears it: limits, refused system calls, signals,
// scheduling. Test support in C: filters, handlers and CPU masks that Swift cannot express.
#ifndef GRANDCENTRAL_CFAULTS_H
#define GRANDCENTRAL_CFAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Each returns 0 or an errno, unless it says otherwise.

// Gives up root, which no limit on processes holds; nothing where there is none to give up.
int faults_become_nobody(void);

typedef enum { FAULTS_PROCESSES, FAULTS_DESCRIPTORS, FAULTS_ADDRESS_SPACE } faults_resource;
// Sets the soft limit, or lifts it to the hard one where `limit` is negative.
int faults_limit(faults_resource resource, int64_t limit);
// Bytes of address space in use, and of a thread's stack by default; -1 where they cannot be told.
int64_t faults_address_space(void);
int64_t faults_stack_bytes(void);

typedef enum {
  FAULTS_CLONE,
  FAULTS_CLONE3,
  FAULTS_OPENAT,
  FAULTS_PRCTL,
  FAULTS_EVENTFD2,
  FAULTS_EPOLL_CREATE1,
  FAULTS_EPOLL_CTL,
  FAULTS_TIMERFD_CREATE,
  FAULTS_SCHED_GETAFFINITY,
  FAULTS_PIDFD_OPEN,
  FAULTS_IO_URING_SETUP,
  FAULTS_IO_URING_ENTER,
  FAULTS_IO_URING_REGISTER,
  FAULTS_READ,
  FAULTS_PREAD,
  FAULTS_PREADV2,
  FAULTS_WRITEV,
  FAULTS_PWRITEV,
  FAULTS_SENDMSG,
  FAULTS_SCHED_SETATTR,
  FAULTS_SCHED_GETATTR,
  FAULTS_IOPRIO_SET,
} faults_call;
// From now on these system calls of this process fail with `error`, for good: seccomp(2).
int faults_refuse(const faults_call *_Nonnull calls, size_t count, int error);
// The same for calls whose first argument is `descriptor` only.
int faults_refuse_descriptor(int descriptor, faults_call call, int error);

// Forks. The child ends with 0 if `body` returns true. Returns what waitpid(2) says of it, or -1.
int faults_in_child(bool (*_Nonnull body)(void));

// fork(2), which Swift does not offer; and the end of a child, which is killed after so many seconds: one that hangs
// would hold this process's pipes for ever. As waitpid(2) says it, or as its status or 128 + the signal; -1: no child.
int faults_fork(void);
int faults_status_of(int child, int seconds);
int faults_end_of(int child, int seconds);

// Stops the calling thread, and no other, as a debugger does: by a child process that traces it until this process has
// ended. Returns only where no thread may be traced.
void faults_stop_own_thread(void);

// pipe2(2), which Swift does not offer: a program that another thread starts just then inherits no end of it.
int faults_make_pipe(int ends[_Nonnull 2], bool blocks);

// Makes and joins a thread.
int faults_try_thread(void);

// Counts deliveries of a signal, which interrupts every system call that can be: no SA_RESTART.
int faults_count_signal(int number);
uint64_t faults_signals(void);
// Sends the signal to every thread but the caller. Returns how many.
int faults_signal_others(int number);
// Sends SIGALRM to the process every so many microseconds; 0 ends it.
int faults_set_alarm(int microseconds);

// Actions.c. What a program may have installed for a signal. The counted ones count deliveries, one with the values
// that came along, and one passes the signal on to what it found.
typedef enum {
  FAULTS_DEFAULT,
  FAULTS_IGNORED,
  FAULTS_COUNTED,
  FAULTS_COUNTED_WITH_VALUE,
  FAULTS_PASSED_ON,
  FAULTS_OTHER,
} faults_action;
int faults_set_action(int number, faults_action action, int flags);
// The same with the signals that are blocked while the action's handler runs: bit n - 1 is signal n.
int faults_set_blocking_action(int number, faults_action action, int flags, uint64_t blocked);
uint64_t faults_action_blocks(int number);
faults_action faults_action_of(int number);
// Those of sigaction(2) that say how system calls, the handler itself and children are affected.
int faults_action_flags(int number);
// Fills the unused part of the caller's stack with `value`, which later calls find there.
void faults_fill_stack(int value);
uint64_t faults_deliveries(int number);
int64_t faults_values(int number);
// Sends a signal with a value to this process, from a thread that does not block it: EAGAIN when too many wait.
int faults_queue(int number, int value);
// Raises a signal in a forked child, which has so many seconds to end. Returns what waitpid(2) says of it.
int faults_fork_and_raise(int number, int seconds);
// Waits until a child has exited, and leaves its status.
bool faults_has_exited(int process);
// A fault of the running thread: SIGSEGV.
void faults_touch_nothing(void);

// CPUs of the calling process's mask, up to 64, as bits.
uint64_t faults_cpus(void);
// Binds a thread, or with 0 every thread of the process, to these CPUs.
int faults_bind(int thread, uint64_t cpus);
typedef enum { FAULTS_NORMAL, FAULTS_BATCH, FAULTS_IDLE } faults_policy;
int faults_schedule(int thread, faults_policy policy);

// Scheduling.c. What the kernel has noted for a thread of this process; 0: the calling one.
typedef struct {
  int policy;
  int nice;
  int64_t slice_nanoseconds;
  int io_priority;
  // Of the calling thread, whichever is asked about.
  int64_t timer_slack_nanoseconds;
} faults_treatment;
int faults_treatment_of(int thread, faults_treatment *_Nonnull treatment);
// Gives the calling thread another nice value.
int faults_set_nice(int value);
// The lowest nice value that this process may set without privilege.
int faults_nice_floor(void);

// Whether this build runs under a sanitizer, which needs the address space to itself.
bool faults_is_sanitized(void);
bool faults_is_thread_sanitized(void);

// A pseudoterminal: its two ends, the second non-blocking. Returns 0 or an errno.
int faults_open_terminal(int *_Nonnull main_end, int *_Nonnull terminal);

#endif
