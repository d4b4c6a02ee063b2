// Room: Coordination/WorkItemState. What has become of a work item.
//   0 cancelled  what runs from now on runs empty
//   1 done       the first execution is over; set once, and with it the completion is told
//   2 again      executed more than once
//   3 waited     a thread waits, or has waited without a time-out: the one wait that there may be
//   4 sleeping   that thread sleeps on this word
//   5 notified   notifications are registered
// finish() sets `done` in one exchange whose result tells whom to wake and what to submit, so
// either it sees a wait or a notification, or those see `done`.
// One wait goes with one execution: dispatch/block.h, dispatch_block_wait.

struct WorkItemState: Hashable, Sendable {
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

  func with(_ bits: UInt32) -> WorkItemState { WorkItemState(rawValue: rawValue | bits) }
  func without(_ bits: UInt32) -> WorkItemState { WorkItemState(rawValue: rawValue & ~bits) }

  /// An execution is over. `nil` if that contradicts the wait that there was.
  func finished() -> WorkItemState? {
    if !isDone { return with(Self.done) }
    return isWaited ? nil : with(Self.again)
  }

  enum WaitRefusal: Error { case waitedBefore, executedTwice }

  /// A thread begins to wait.
  func waiting() throws(WaitRefusal) -> WorkItemState {
    if isWaited { throw .waitedBefore }
    if isAgain { throw .executedTwice }
    return with(Self.waited)
  }

  /// The waiting thread goes to sleep. `nil` when there is nothing to sleep for.
  func fellAsleep() -> WorkItemState? { isDone ? nil : with(Self.sleeping) }

  /// The waiting thread gives up: that wait does not count. `nil` when it has come true.
  func gaveUp() -> WorkItemState? { isDone ? nil : without(Self.waited | Self.sleeping) }

  /// Somebody wants to be notified. `nil` when it is too late to be told later.
  func observed() -> WorkItemState? { isDone ? nil : with(Self.notified) }
}
