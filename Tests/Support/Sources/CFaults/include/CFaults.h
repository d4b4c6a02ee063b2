// Faults that a process can cause in itself, to test the engine under them: limits, refused system
// calls, signals, scheduling. In C: Swift cannot express the filters, handlers and CPU masks.
#ifndef GRANDCENTRAL_CFAULTS_H
#define GRANDCENTRAL_CFAULTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Each function returns 0 or an errno, unless its comment says otherwise.

// Gives up root, for which no limit on processes holds. Does nothing in a process that is not root.
int faults_drop_privileges(void);

typedef enum { FAULTS_PROCESSES, FAULTS_DESCRIPTORS, FAULTS_ADDRESS_SPACE } faults_resource;
// Sets the soft limit; a negative `limit` sets it to the hard limit.
int faults_limit(faults_resource resource, int64_t limit);
// Bytes of address space in use, and of a thread's default stack; -1 if unknown.
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
// Makes these system calls of this process fail with `error`, permanently: seccomp(2).
int faults_refuse(const faults_call *_Nonnull calls, size_t count, int error);
// Makes only those calls fail whose first argument is `descriptor`.
int faults_refuse_descriptor(int descriptor, faults_call call, int error);

// Bytes that malloc(3) has handed out and that are not freed.
size_t faults_heap_bytes(void);

// Forks; the child exits with 0 if `body` returns true. Returns the status of waitpid(2), or -1.
int faults_in_child(bool (*_Nonnull body)(void));

// fork(2), which Swift does not offer, and waits for a child, which is killed after `seconds`,
// since a hanging one would hold this process's pipes. Return waitpid(2)'s status, or the exit
// status or 128 + the signal; -1: no child.
int faults_fork(void);
int faults_status_of(int child, int seconds);
int faults_end_of(int child, int seconds);

// Stops only the calling thread, as a debugger does: a child process traces it until this process
// exits. Returns only if tracing is not permitted.
void faults_stop_own_thread(void);

// pipe2(2), which Swift does not offer: programs started by other threads inherit neither end.
int faults_make_pipe(int ends[_Nonnull 2], bool blocks);

// Makes a close-on-exec, non-blocking eventfd(2); -1 with errno set on failure.
int faults_make_eventfd(void);

// Threads.c: the calling thread's kernel id and name, and its signal mask without any signal.
int faults_thread_id(void);
void faults_name_thread(const char *_Nonnull name);
void faults_unblock_signals(void);
// Waits until the thread has ended.
int faults_join(pthread_t thread, int seconds);
// One step of a loop that spins.
void faults_spin(void);

// Makes and joins a thread.
int faults_try_thread(void);

// Counts deliveries of a signal. Without SA_RESTART it interrupts every interruptible system call.
int faults_count_signal(int number);
uint64_t faults_signals(void);
// Sends the signal to every thread but the caller. Returns how many received it.
int faults_signal_others(int number);
// Sends SIGALRM to the process every `microseconds`; 0 ends it.
int faults_set_alarm(int microseconds);

// Actions.c: the actions that a program may have installed for a signal. The counting ones count
// deliveries, one of them also adds up the values, and one calls the action that it replaced.
typedef enum {
  FAULTS_DEFAULT,
  FAULTS_IGNORED,
  FAULTS_COUNTED,
  FAULTS_COUNTED_WITH_VALUE,
  FAULTS_PASSED_ON,
  FAULTS_OTHER,
} faults_action;
int faults_set_action(int number, faults_action action, int flags);
// Also sets the signals that are blocked while the action's handler runs: bit n - 1 is signal n.
int faults_set_blocking_action(int number, faults_action action, int flags, uint64_t blocked);
uint64_t faults_action_blocks(int number);
faults_action faults_action_of(int number);
// The flags of sigaction(2) that affect system calls, the handler itself and children.
int faults_action_flags(int number);
// Fills the unused part of the caller's stack with `value`, where later calls find it.
void faults_fill_stack(int value);
uint64_t faults_deliveries(int number);
int64_t faults_values(int number);
// Sends this process a signal with a value, from a thread that does not block the signal. EAGAIN if
// too many are pending.
int faults_queue(int number, int value);
// Raises a signal in a forked child, killed after `seconds`. Returns the status of waitpid(2).
int faults_fork_and_raise(int number, int seconds);
// Waits until a child has exited, and does not reap it.
bool faults_has_exited(int process);
// Causes a fault in the calling thread: SIGSEGV.
void faults_touch_nothing(void);

// Returns the calling process's CPU mask, up to 64 CPUs, as bits.
uint64_t faults_cpus(void);
// Binds a thread, or with 0 every thread of the process, to these CPUs.
int faults_bind(int thread, uint64_t cpus);
typedef enum { FAULTS_NORMAL, FAULTS_BATCH, FAULTS_IDLE } faults_policy;
int faults_schedule(int thread, faults_policy policy);

// Scheduling.c: the kernel's attributes of a thread of this process; 0: the calling thread.
typedef struct {
  int policy;
  int nice;
  int64_t slice_nanoseconds;
  int io_priority;
  // The calling thread's, whatever the argument.
  int64_t timer_slack_nanoseconds;
} faults_treatment;
int faults_treatment_of(int thread, faults_treatment *_Nonnull treatment);
// Sets the calling thread's nice value.
int faults_set_nice(int value);
// Returns the lowest nice value that this process may set without privilege.
int faults_nice_floor(void);

// Whether this build runs under a sanitizer, which reserves address space for itself.
bool faults_is_sanitized(void);
bool faults_is_thread_sanitized(void);

// Opens a pseudoterminal; the second end is non-blocking. Returns 0 or an errno.
int faults_open_terminal(int *_Nonnull main_end, int *_Nonnull terminal);

#endif
