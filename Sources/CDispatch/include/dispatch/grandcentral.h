// SPDX-License-Identifier: Apache-2.0
// What the queues and threads of this process do, and what hangs. These functions are Grand
// Central's own: no other libdispatch has them, and <dispatch/dispatch.h> does not include this
// header. A program that may run on another libdispatch declares them weak (#pragma weak) and
// compares them with NULL.
//
//   grandcentral_snapshot_t snapshot = grandcentral_snapshot_create(5 * NSEC_PER_SEC);
//   fputs(grandcentral_snapshot_get_text(snapshot), stderr);
//   grandcentral_snapshot_free(snapshot);
//
// A snapshot does not change. Any thread may read it, and the strings that it returns live as long
// as it does. Queues have numbers, to which threads and targets refer; 0 stands for none. Times are
// nanoseconds of CLOCK_MONOTONIC, within 10 ms; 0 stands for none.
//
// The program may also set GRANDCENTRAL_DUMP_AFTER=SECONDS in its environment: what is stuck for
// that long is printed on standard error, without a call.
//
// Source: Docs/Inside.md.
#ifndef GRANDCENTRAL_INSIDE_H
#define GRANDCENTRAL_INSIDE_H

#include "dispatch.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

/// What the queues and threads of the process did at one moment.
typedef struct grandcentral_snapshot_s *grandcentral_snapshot_t;

/// What hangs. Later versions may add kinds.
enum {
  /// Threads wait for each other through queues and work items.
  GRANDCENTRAL_DEADLOCK = 1,
  /// Items that wait hold as many threads as there may be, or 64.
  GRANDCENTRAL_THREAD_EXPLOSION = 2,
  /// Work waits in a suspended queue.
  GRANDCENTRAL_FORGOTTEN_RESUME = 3,
  /// Threads wait for a queue whose item waits for a group or a semaphore.
  GRANDCENTRAL_SUSPECTED_DEADLOCK = 4,
  /// Threads wait for a queue whose item sleeps.
  GRANDCENTRAL_STUCK_QUEUE = 5,
  /// Threads wait for a group, and no thread has work that could leave it.
  GRANDCENTRAL_FORGOTTEN_LEAVE = 6,
};

/// What a thread does.
enum {
  /// A worker sleeps without work.
  GRANDCENTRAL_IDLE = 1,
  /// The thread runs, or sleeps in a call that the library does not know.
  GRANDCENTRAL_RUNNING = 2,
  /// The thread sleeps in a wait of the library.
  GRANDCENTRAL_WAITING = 3,
};

/// What a thread waits for.
enum {
  /// The thread does not wait.
  GRANDCENTRAL_NOTHING = 0,
  /// To enter a queue.
  GRANDCENTRAL_QUEUE = 1,
  /// A group.
  GRANDCENTRAL_GROUP = 2,
  /// A semaphore.
  GRANDCENTRAL_SEMAPHORE = 3,
  /// A work item.
  GRANDCENTRAL_WORK_ITEM = 4,
  /// The end of dispatch_apply().
  GRANDCENTRAL_APPLY = 5,
  /// An initialisation by dispatch_once() on another thread.
  GRANDCENTRAL_ONCE = 6,
  /// A file.
  GRANDCENTRAL_FILE = 7,
};

/// What a queue is.
enum {
  /// A kind of another version.
  GRANDCENTRAL_UNKNOWN = 0,
  /// One item at a time; sources and workloops, too.
  GRANDCENTRAL_SERIAL = 1,
  /// Items run at the same time.
  GRANDCENTRAL_CONCURRENT = 2,
  /// A global queue.
  GRANDCENTRAL_GLOBAL = 3,
  /// The main queue.
  GRANDCENTRAL_MAIN = 4,
};

// MARK: Snapshots

/// Takes a snapshot of this process. If something seems stuck, the call sleeps for 20 ms and looks
/// again, because what moves is not stuck. A process that has not used a queue yet has an empty
/// snapshot.
///
/// - Parameter stuck_after: how long a wait must have lasted to be a finding, in nanoseconds.
/// - Returns: a snapshot, which the caller frees.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
grandcentral_snapshot_t grandcentral_snapshot_create(uint64_t stuck_after);

/// Frees a snapshot and its strings.
///
/// - Parameter snapshot: one that the program has created. NULL does nothing.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NOTHROW
void grandcentral_snapshot_free(grandcentral_snapshot_t _Nullable snapshot);

/// Returns the text that `grandcentral dump` prints: findings, threads, queues.
///
/// - Parameter snapshot: the snapshot.
/// - Returns: lines of UTF-8.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
const char *grandcentral_snapshot_get_text(grandcentral_snapshot_t snapshot);

// MARK: Findings, the most certain first
// An index that is not below the count stops the process, here and below.

/// Returns how many things hang.
///
/// - Parameter snapshot: the snapshot.
/// - Returns: 0 if nothing hangs.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
size_t grandcentral_snapshot_get_finding_count(grandcentral_snapshot_t snapshot);

/// Returns what hangs.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the finding, below the count.
/// - Returns: GRANDCENTRAL_DEADLOCK and so on.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
int grandcentral_snapshot_get_finding_kind(grandcentral_snapshot_t snapshot, size_t index);

/// Returns a finding in words: a headline, and an indented line for each wait and for what to do.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the finding, below the count.
/// - Returns: lines of UTF-8.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
const char *grandcentral_snapshot_get_finding_text(grandcentral_snapshot_t snapshot, size_t index);

// MARK: Threads

/// Returns the number of threads: those that the library has made, and those that have waited for
/// one of its objects.
///
/// - Parameter snapshot: the snapshot.
/// - Returns: the count.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
size_t grandcentral_snapshot_get_thread_count(grandcentral_snapshot_t snapshot);

/// Returns the kernel's number of a thread: gettid(2).
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: the number.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_thread_id(grandcentral_snapshot_t snapshot, size_t index);

/// Returns the name of a thread when the library first saw it.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: up to 15 bytes of UTF-8.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
const char *grandcentral_snapshot_get_thread_name(grandcentral_snapshot_t snapshot, size_t index);

/// Returns what a thread does.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: GRANDCENTRAL_IDLE and so on.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
int grandcentral_snapshot_get_thread_activity(grandcentral_snapshot_t snapshot, size_t index);

/// Returns since when a thread does what it does.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: a time in nanoseconds.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint64_t grandcentral_snapshot_get_thread_since(grandcentral_snapshot_t snapshot, size_t index);

/// Returns the innermost queue whose item a thread runs. One that the thread has entered by
/// dispatch_sync() is known while it waits.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: the queue's number, or 0.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_thread_queue(grandcentral_snapshot_t snapshot, size_t index);

/// Returns what a thread waits for.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: GRANDCENTRAL_QUEUE and so on.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
int grandcentral_snapshot_get_thread_awaited(grandcentral_snapshot_t snapshot, size_t index);

/// Returns the queue that a thread waits for, or that runs the awaited work item.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: the queue's number, or 0.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_thread_awaited_queue(
    grandcentral_snapshot_t snapshot, size_t index);

/// Returns the thread that must continue first, as known when the wait began.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the thread, below the count.
/// - Returns: the other thread's number, or 0.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_thread_holder(grandcentral_snapshot_t snapshot, size_t index);

// MARK: Queues

/// Returns the number of queues: those that a thread has worked on or waited for, or that were
/// suspended.
///
/// - Parameter snapshot: the snapshot.
/// - Returns: the count.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
size_t grandcentral_snapshot_get_queue_count(grandcentral_snapshot_t snapshot);

/// Returns the number to which threads and targets refer. Another queue may get it after this one
/// has ended.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: the number.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_queue_id(grandcentral_snapshot_t snapshot, size_t index);

/// Returns the label of a queue; empty for a source.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: up to 64 bytes of UTF-8.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
const char *grandcentral_snapshot_get_queue_label(grandcentral_snapshot_t snapshot, size_t index);

/// Returns what a queue is.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: GRANDCENTRAL_SERIAL and so on.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
int grandcentral_snapshot_get_queue_kind(grandcentral_snapshot_t snapshot, size_t index);

/// Returns a queue's own class when it was first used.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: QOS_CLASS_UTILITY and so on.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
dispatch_qos_class_t grandcentral_snapshot_get_queue_qos_class(
    grandcentral_snapshot_t snapshot, size_t index);

/// Returns the target of a queue.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: the target's number; 0 for a global queue that has not been drained itself.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint32_t grandcentral_snapshot_get_queue_target(grandcentral_snapshot_t snapshot, size_t index);

/// Returns since when a queue is suspended.
///
/// - Parameters:
///   - snapshot: the snapshot.
///   - index: the number of the queue, below the count.
/// - Returns: a time in nanoseconds, or 0.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
uint64_t grandcentral_snapshot_get_queue_suspended_since(
    grandcentral_snapshot_t snapshot, size_t index);

// MARK: What is stuck

/// Called when something is stuck. The snapshot is valid until the function returns.
typedef void (*grandcentral_stuck_function_t)(
    void *_Nullable context, grandcentral_snapshot_t snapshot);

/// The registration of a function for what is stuck.
typedef struct grandcentral_stuck_handler_s *grandcentral_stuck_handler_t;

/// Calls a function each time that something in this process has been stuck for some time: once for
/// each hang, again if the hang has ended and returns, and for several hangs one after the other.
///
/// The function runs on a thread of its own, because the queues may be what is stuck: it must not
/// wait for one of them. The thread sleeps while nothing waits, so an idle process is not woken. A
/// child of fork() keeps the registration. An interval of 0 stops the process.
///
/// - Parameters:
///   - interval: how long a wait must last, in nanoseconds. With DISPATCH_TIME_FOREVER the function
///     is never called.
///   - context: passed to the function.
///   - function: called with the snapshot. It must not free it.
/// - Returns: the registration, which the caller passes to grandcentral_stuck_handler_cancel().
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL3 DISPATCH_WARN_RESULT DISPATCH_NOTHROW
grandcentral_stuck_handler_t grandcentral_when_stuck_f(
    uint64_t interval, void *_Nullable context, grandcentral_stuck_function_t function);

/// Removes a function for what is stuck, and frees its registration. A call that has begun is not
/// waited for; no other one begins.
///
/// - Parameter handler: the registration.
/// - Source: Docs/Inside.md.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void grandcentral_stuck_handler_cancel(grandcentral_stuck_handler_t handler);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
