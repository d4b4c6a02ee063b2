// Purpose: the checker's verdict on an engine that broke a promise.

public enum Invariant: String, CaseIterable, Sendable {
  case exactlyOnce = "every submitted item runs exactly once"
  case notBeforeCall = "nothing runs before it is submitted"
  case serialExclusion = "a serial queue, and all that targets it, runs one item at a time"
  case barrierExclusion =
    "while a barrier runs, nothing else of its queue, or of those that target it, does"
  case serialOrder = "a serial queue starts items in the order of their submission"
  case barrierOrder =
    "a barrier runs after all items submitted before it, and before all submitted after it"
  case syncReturnsAfter = "sync returns after its item, and with its value"
  case iterationsComplete = "concurrentPerform returns after all its iterations"
  case groupWaits = "a group's wait returns after all members that were in it"
  case groupNotifies = "a group notifies after all members that were in it"
  case permits = "a semaphore gives no more permits than it has"
  case suspension = "nothing starts on a suspended queue"
  case activation = "nothing starts on an inactive queue"
  case afterDeadline = "asyncAfter never runs early"
  case cancellation = "an item that was cancelled before its turn never runs"
  case itemWaits = "a work item's wait returns after the item"
  case itemNotifies = "a work item notifies after the item"
  case specifics = "a specific is that of the nearest queue of the chain"
  case nothingAfterwards = "nothing runs after everything has ended"
  case everythingEnds = "everything ends"
  case noCrash = "the process does not crash"
}

public struct Violation: Error, Hashable, Sendable {
  public let invariant: Invariant
  /// A description of what happened.
  public let sentence: String
  /// The numbers of the steps involved.
  public let steps: [Int]

  public init(_ invariant: Invariant, _ sentence: String, steps: [Int]) {
    self.invariant = invariant
    self.sentence = sentence
    self.steps = steps
  }
}
