// Purpose: promises that the interpreter can break in the engine's name, to prove that every rule
// can fail. Each fault is between the program and the engine, never between the log and the
// checker.

public enum Fault: String, CaseIterable, Sendable {
  /// `async` submits nothing, if no step waits for the item.
  case dropsItems = "drops-items"
  case runsTwice = "runs-twice"
  /// Serial queues are made concurrent.
  case overlaps = "overlaps"
  /// Two consecutive submissions reach the queue in reverse order.
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
  /// concurrentPerform runs its last iteration after it has returned.
  case iterationLater = "iteration-later"
  case itemWaitsShort = "item-waits-short"
  case itemNotifiesEarly = "item-notifies-early"
  /// An item runs again long after everything has ended.
  case runsAfterwards = "runs-afterwards"
  /// An item is lost, as by a defect in an engine: the run never ends.
  case hangs = "hangs"
  /// At most two items run at a time, unless they wait in calls of the engine, so busy waits keep
  /// other items from starting.
  case keepsWidth = "keeps-width"
  case crashes = "crashes"
  /// A task's item runs on a global queue, whichever queue the task or its actor asks for.
  case ignoresExecutors = "ignores-executors"

  /// The violations of which the checker must report one.
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
    // The last two show where the new target is inactive or suspended.
    case .ignoresRetargeting:
      [.specifics, .serialExclusion, .barrierExclusion, .activation, .suspension]
    case .afterTooEarly: [.afterDeadline]
    case .iterationLater: [.iterationsComplete]
    case .itemWaitsShort: [.itemWaits]
    case .itemNotifiesEarly: [.itemNotifies]
    // A race decides which of the two: the repeated item against the reading of the log.
    case .runsAfterwards: [.nothingAfterwards, .exactlyOnce]
    case .hangs, .keepsWidth: [.everythingEnds]
    case .crashes: [.noCrash]
    case .ignoresExecutors: [.serialExclusion, .serialOrder, .barrierExclusion, .barrierOrder]
    }
  }

  /// The capabilities without which the fault cannot show.
  public var needs: Capabilities {
    switch self {
    case .afterTooEarly: .after
    case .ignoresRetargeting: .retargetsActive
    case .ignoresExecutors: .tasks
    default: []
    }
  }
}
