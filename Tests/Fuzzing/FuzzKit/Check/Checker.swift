// Purpose: judges a run by its log alone. It knows nothing of the engine that made it.

public struct Checker {
  public let history: History
  let chains: Chains
  /// What the engine promises beyond what all do.
  let promises: Capabilities
  var facts: Facts { history.facts }

  public init(_ history: History, promises: Capabilities = .all) {
    self.history = history
    self.promises = promises
    chains = Chains(history)
  }

  public init(_ program: Program, _ events: [Event], promises: Capabilities = .all) {
    self.init(History(Facts(program), events), promises: promises)
  }

  /// The first broken promise, the plainest first: an item that ran twice breaks others too.
  public func check() throws(Violation) {
    try checkExactlyOnce()
    try checkNotBeforeCall()
    try checkSync()
    try checkIterations()
    try checkExclusion()
    try checkSerialOrder()
    try checkBarrierOrder()
    try checkGroupWaits()
    try checkGroupNotifications()
    try checkPermits()
    try checkSuspension()
    try checkActivation()
    try checkDeadlines()
    try checkCancellation()
    try checkItemWaits()
    try checkItemNotifications()
    try checkSpecifics()
  }

  public var violation: Violation? {
    do throws(Violation) {
      try check()
      return nil
    } catch {
      return error
    }
  }

  func name(_ queue: Int) -> String { "\(facts.program.queues[queue].kind) queue \(queue)" }
}
