// All small words of a lane, and the invariants that each must keep.
@testable import GrandCentralCore

enum LaneWords {
  /// The addresses of a queued and of an arriving node. They are never read; aligned as nodes are.
  static var queued: UnsafeMutableRawPointer { address(0x7f00_0000_1040) }
  static var arriving: UnsafeMutableRawPointer { address(0x7f00_0000_2080) }

  private static func address(_ value: UInt) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: value)!
  }

  static let flags: [UInt64] = [
    LaneState.locked, LaneState.sleepers, LaneState.batch, LaneState.suspended,
    LaneState.targeted, LaneState.bound, LaneState.held,
  ]
  static func urgency(_ band: Band) -> UInt64 { LaneState.field(band) }
  static let urgencies: [Band] = [.unspecified, .utility, .userInteractive]
  static var runningMask: UInt64 { ~(LaneState.oneRunning - 1) }
  static let counts = [
    0, 1, 2, LaneState.defaultWidth - 1, LaneState.defaultWidth, LaneState.maxAdmitted,
    LaneState.maxHolders,
  ]

  static let widths = [1, 2, LaneState.defaultWidth, LaneState.maxAdmitted]

  /// Every combination of flags, with some urgencies, small and extreme counts, and an empty or
  /// filled list.
  static let all: [LaneState] = {
    var words: [LaneState] = []
    for combination in 0..<(1 << flags.count) {
      var bits: UInt64 = 0
      for (place, flag) in flags.enumerated() where combination >> place & 1 == 1 { bits |= flag }
      for count in counts {
        for pending in [0, UInt64(UInt(bitPattern: queued))] {
          for rest in urgencies.map(urgency) {
            words.append(
              LaneState(rawValue: bits | UInt64(count) * LaneState.oneRunning | pending | rest))
          }
        }
      }
    }
    return words
  }()

  /// The words that can occur in the engine.
  static let valid = all.filter { brokenInvariants($0).isEmpty }

  static func brokenInvariants(_ word: LaneState) -> [String] {
    var broken: [String] = []
    if word.isHeld && !word.isLocked && word.running == 0 {
      broken.append("held, but neither locked nor running")
    }
    if word.hasSleepers && word.isHeld { broken.append("sleepers on an activation") }
    if word.hasWork && !word.isSuspended && !word.isLocked && word.running == 0 {
      broken.append("work that no thread will take")
    }
    if word.awaitsBarrier && (word.isLocked || !word.hasWork) {
      broken.append("awaits a barrier, but has an owner or nothing queued")
    }
    if word.urgency != .unspecified && !word.isLocked && !word.hasWork {
      broken.append("urgent, with no thread inside and nothing queued")
    }
    if word.running > LaneState.maxHolders { broken.append("more running than may be") }
    return broken
  }

  /// The invariants that `after` breaks, and the bits of `before` outside `owned` that changed.
  static func faults(_ before: LaneState, _ after: LaneState, mayChange owned: UInt64) -> [String] {
    var faults = brokenInvariants(after)
    let touched = (before.rawValue ^ after.rawValue) & ~owned
    if touched != 0 { faults.append("touched 0x" + String(touched, radix: 16)) }
    return faults.map { "\(describe(before)) → \(describe(after)): \($0)" }
  }

  static func describe(_ word: LaneState) -> String {
    let names = [
      "locked", word.isLocked ? "sleepers" : "barrier", "batch", "suspended", "targeted", "bound",
      "held",
    ]
    var parts = zip(names, flags).filter { word.rawValue & $0.1 != 0 }.map(\.0)
    if word.pending != nil { parts.append("pending") }
    if word.running > 0 { parts.append("running \(word.running)") }
    if word.urgency != .unspecified { parts.append("\(word.urgency)") }
    return parts.isEmpty ? "idle" : parts.joined(separator: "+")
  }
}

// Transitions of words without a width of their own, for tests.
extension LaneState {
  func pushed(
    _ node: UnsafeMutableRawPointer, exclusive: Bool, urgency: Band = .unspecified
  ) -> (LaneState, PushAction) {
    pushed(node, exclusive: exclusive, urgency: urgency, width: Self.defaultWidth)
  }

  func entered(exclusive: Bool) -> LaneState? {
    entered(exclusive: exclusive, width: Self.defaultWidth)
  }

  /// As on a lane whose width was limited.
  func leftShared() -> (LaneState, LeaveAction) { leftShared(width: Self.defaultWidth) }

  /// Makes a word from its parts.
  init(_ flags: UInt64, running: Int = 0, pending: UnsafeMutableRawPointer? = nil) {
    self.init(
      rawValue: flags | UInt64(running) * LaneState.oneRunning
        | UInt64(UInt(bitPattern: pending)))
  }
}
