// Purpose: promises that the interpreter can break in the engine's name, so that it is known of
// every rule that it can fail. Each stands between the program and the engine, never between the
// log and the checker.

public enum Fault: String, CaseIterable, Sendable {
  /// `async` submits nothing, and nobody waits for the item.
  case dropsItems = "drops-items"
  case runsTwice = "runs-twice"
  /// Serial queues are made concurrent.
  case overlaps = "overlaps"
  /// Two submissions in a row reach the queue the other way round.
  case swapsOrder = "swaps-order"
  /// Barriers are submitted without their flag.
  case ignoresBarriers = "ignores-barriers"
  case notifiesEarly = "notifies-early"
  case groupWaitsShort = "group-waits-short"
  case runsCancelled = "runs-cancelled"
  case syncReturnsEarly = "sync-returns-early"
  /// Semaphores are made with one permit more.
  case extraPermit = "extra-permit"
  case ignoresSuspension = "ignores-suspension"
  case ignoresInactivity = "ignores-inactivity"
  /// Specifics are looked up from the far end of the chain.
  case wrongSpecific = "wrong-specific"
  case ignoresRetargeting = "ignores-retargeting"
  case afterTooEarly = "after-too-early"
  /// concurrentPerform does its last iteration later.
  case iterationLater = "iteration-later"
  case itemWaitsShort = "item-waits-short"
  case itemNotifiesEarly = "item-notifies-early"
  /// An item runs again long after everything has ended.
  case runsAfterwards = "runs-afterwards"
  /// An item is lost, as an engine loses one: the run never ends.
  case hangs = "hangs"
  /// No more than two items run at a time, unless they wait in calls of the engine: what waits
  /// busily keeps others from starting.
  case keepsWidth = "keeps-width"
  case crashes = "crashes"

  /// What the checker must say, one of these.
  public var breaks: Set<Invariant> {
    switch self {
    case .dropsItems, .runsTwice: [.exactlyOnce]
    case .overlaps: [.serialExclusion, .serialOrder, .suspension]
    case .swapsOrder: [.serialOrder]
    case .ignoresBarriers: [.barrierExclusion, .barrierOrder, .suspension]
    case .notifiesEarly: [.groupNotifies]
    case .groupWaitsShort: [.groupWaits]
    case .runsCancelled: [.cancellation]
    case .syncReturnsEarly: [.syncReturnsAfter]
    case .extraPermit: [.permits]
    case .ignoresSuspension: [.suspension]
    case .ignoresInactivity: [.activation]
    case .wrongSpecific: [.specifics]
    case .ignoresRetargeting: [.specifics, .serialExclusion, .barrierExclusion]
    case .afterTooEarly: [.afterDeadline]
    case .iterationLater: [.iterationsComplete]
    case .itemWaitsShort: [.itemWaits]
    case .itemNotifiesEarly: [.itemNotifies]
    // Which of the two depends on who is quicker: it, or whoever reads the log.
    case .runsAfterwards: [.nothingAfterwards, .exactlyOnce]
    case .hangs, .keepsWidth: [.everythingEnds]
    case .crashes: [.noCrash]
    }
  }

  /// What an engine must be able to do for the fault to show.
  public var needs: Capabilities {
    switch self {
    case .afterTooEarly: .after
    case .ignoresRetargeting: .retargetsActive
    default: []
    }
  }
}
