// Purpose: which features one program uses. Each program leaves about half of them out, because
// programs that use everything at once seldom use any of it enough (Groce and others: Swarm
// testing, 2012).

/// Of the programs with busy waits, one in so many may take seconds.
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
  /// Busy waits that cost an engine seconds: more of them than CPUs, on concurrent or global
  /// queues, and all use the CPU.
  static let slowWaits = Features(rawValue: 1 << 19)

  init(rawValue: Int) { self.rawValue = rawValue }

  init(_ dice: inout Dice, _ capabilities: Capabilities) {
    var mask = Int(truncatingIfNeeded: dice.next() & 0x1_ffff)
    // sync() finds most; leave it out seldom.
    if dice.chance(50) { mask |= Features.sync.rawValue }
    var features = Features(rawValue: mask)
    if !capabilities.contains(.after) { features.remove(.after) }
    if !capabilities.contains(.asyncAndWait) { features.remove(.asyncAndWait) }
    if !capabilities.contains(.retargetsActive) { features.remove(.retargets) }
    if !capabilities.contains(.mainQueue) || !dice.chance(25) { features.remove(.mainQueue) }
    self = features
  }

  /// - Parameter percent: of how many programs in a hundred items wait busily.
  mutating func addBusyWaits(
    _ dice: inout Dice, percent: Int, _ capabilities: Capabilities
  ) {
    guard dice.chance(percent) else { return }
    let kinds: [Features] = [.busyWaits, .meetings, [.busyWaits, .meetings]]
    formUnion(kinds[dice.below(3)])
    guard capabilities.contains(.startsWhateverRuns) else { return }
    // Seconds are thousands of other programs.
    if dice.below(slowWaitShare) == 0 { formUnion(.slowWaits) }
  }
}
