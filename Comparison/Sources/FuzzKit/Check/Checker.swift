// Purpose: judges a run by its log alone, without knowledge of the engine.

public struct Checker {
  public let history: History
  let chains: Chains
  /// The engine's promises beyond those that every engine makes.
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

  /// Throws the first broken promise. Basic rules come first: an item that ran twice breaks others.
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
