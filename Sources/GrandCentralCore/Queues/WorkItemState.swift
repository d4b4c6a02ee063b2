// Room: Queues/WorkItemState. The state of a work item.
//   0 cancelled  later executions run nothing
//   1 done       the first execution has ended; set once
//   2 again      executed more than once
//   3 waited     a thread waits, or has waited and not timed out: the only wait allowed
//   4 sleeping   that thread sleeps on this word
//   5 notified   notifications are registered
// finish() sets `done` in one exchange, whose old value says which threads to wake and what to
// submit. So either finish() sees a wait or a notification, or the waiter or observer sees `done`.
// One wait goes with one execution: dispatch/block.h, dispatch_block_wait.
// Invariant: again ⇒ done and not waited. sleeping ⇒ waited.

struct WorkItemState: StateWord {
  let rawValue: UInt32

  static let cancelled: UInt32 = 1
  static let done: UInt32 = 2
  static let again: UInt32 = 4
  static let waited: UInt32 = 8
  static let sleeping: UInt32 = 16
  static let notified: UInt32 = 32

  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isDone: Bool { rawValue & Self.done != 0 }
  var isAgain: Bool { rawValue & Self.again != 0 }
  var isWaited: Bool { rawValue & Self.waited != 0 }
  var isSleeping: Bool { rawValue & Self.sleeping != 0 }
  var isNotified: Bool { rawValue & Self.notified != 0 }

  var isValid: Bool { (!isAgain || isDone && !isWaited) && (!isSleeping || isWaited) }

  func with(_ bits: UInt32) -> WorkItemState { WorkItemState(rawValue: rawValue | bits) }
  func without(_ bits: UInt32) -> WorkItemState { WorkItemState(rawValue: rawValue & ~bits) }

  func cancelled() -> WorkItemState? { with(Self.cancelled) }

  /// Records the end of an execution. `nil` if an earlier wait forbids a second execution.
  func finished() -> WorkItemState? {
    if !isDone { return with(Self.done) }
    return isWaited ? nil : with(Self.again)
  }

  enum WaitRefusal: Error { case waitedBefore, executedTwice }

  /// Begins a wait.
  func waiting() throws(WaitRefusal) -> WorkItemState {
    if isWaited { throw .waitedBefore }
    if isAgain { throw .executedTwice }
    return with(Self.waited)
  }

  /// Marks the waiting thread as asleep. `nil` if the item is done.
  func fellAsleep() -> WorkItemState? { isDone ? nil : with(Self.sleeping) }

  /// Withdraws a wait that timed out; it does not count. `nil` if the item is done.
  func gaveUp() -> WorkItemState? { isDone ? nil : without(Self.waited | Self.sleeping) }

  /// Announces a notification. `nil` if the item is done: the caller submits the notification
  /// itself.
  func observed() -> WorkItemState? { isDone ? nil : with(Self.notified) }
}
