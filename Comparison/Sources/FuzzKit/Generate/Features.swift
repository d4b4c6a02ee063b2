// Purpose: the features that one program uses. Each program omits about half of them, because a
// program that uses all features seldom uses any of them enough (Groce and others: Swarm testing,
// 2012).

/// One in this many programs with busy waits may take seconds.
private let slowWaitShare = 600

struct Features: OptionSet {
  let rawValue: Int

  static let sync = Features(rawValue: 1 << 0)
  static let asyncAndWait = Features(rawValue: 1 << 1)
  static let after = Features(rawValue: 1 << 2)
  static let barriers = Features(rawValue: 1 << 3)
  static let groups = Features(rawValue: 1 << 4)
  static let permits = Features(rawValue: 1 << 5)
  static let handshakes = Features(rawValue: 1 << 6)
  static let suspension = Features(rawValue: 1 << 7)
  static let inactive = Features(rawValue: 1 << 8)
  static let retargets = Features(rawValue: 1 << 9)
  static let handles = Features(rawValue: 1 << 10)
  static let cancels = Features(rawValue: 1 << 11)
  static let specifics = Features(rawValue: 1 << 12)
  static let iterations = Features(rawValue: 1 << 13)
  static let qos = Features(rawValue: 1 << 14)
  static let mainQueue = Features(rawValue: 1 << 15)
  static let spins = Features(rawValue: 1 << 16)
  static let busyWaits = Features(rawValue: 1 << 17)
  static let meetings = Features(rawValue: 1 << 18)
  /// Busy waits that take an engine seconds: more of them than CPUs, on concurrent or global
  /// queues, and all of them use CPU time.
  static let slowWaits = Features(rawValue: 1 << 19)

  /// Items run in tasks that prefer a queue, and on actors whose executor is a queue.
  static let tasks = Features(rawValue: 1 << 20)

  init(rawValue: Int) { self.rawValue = rawValue }

  init(_ dice: inout Dice, _ capabilities: Capabilities) {
    var mask = Int(truncatingIfNeeded: dice.next() & 0x1_ffff)
    // Most defects need sync(), so it is seldom omitted.
    if dice.chance(50) { mask |= Features.sync.rawValue }
    var features = Features(rawValue: mask)
    if !capabilities.contains(.after) { features.remove(.after) }
    if !capabilities.contains(.asyncAndWait) { features.remove(.asyncAndWait) }
    if !capabilities.contains(.retargetsActive) { features.remove(.retargets) }
    if !capabilities.contains(.mainQueue) || !dice.chance(25) { features.remove(.mainQueue) }
    self = features
  }

  mutating func addTasks(_ dice: inout Dice, _ capabilities: Capabilities) {
    if capabilities.contains(.tasks) && dice.chance(35) { insert(.tasks) }
  }

  /// - Parameter percent: the percentage of programs in which items wait busily.
  mutating func addBusyWaits(
    _ dice: inout Dice, percent: Int, _ capabilities: Capabilities
  ) {
    guard dice.chance(percent) else { return }
    let kinds: [Features] = [.busyWaits, .meetings, [.busyWaits, .meetings]]
    formUnion(kinds[dice.below(3)])
    guard capabilities.contains(.startsWhateverRuns) else { return }
    // A program that takes seconds costs as much as thousands of others.
    if dice.below(slowWaitShare) == 0 { formUnion(.slowWaits) }
  }
}
