// Room: Lanes/Suspension. How often a lane is suspended, and whether it was activated.
//   31 inactive │ 30…0 count
// The lane's state word says by itself that one suspend() is in effect; once there are more, or
// while the lane is inactive, this word counts all of them: see Lane+Suspend. It is 0 while the
// state word does not say that it counts.
//   inactive ─activate→ 0 ─count→ 1 ─suspend→ 2 ─resume→ 1 ─resume→ 0
// An inactive object can be suspended too. It then needs both activate() and the balancing resumes.

struct Suspension: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  var rawValue: UInt32

  static var inactive: Suspension { Suspension(rawValue: 1 << 31) }
  static var maxCount: UInt32 { inactive.rawValue - 1 }

  init(rawValue: UInt32) { self.rawValue = rawValue }
  init(count: UInt32 = 0) { rawValue = count }

  var count: UInt32 { rawValue & Self.maxCount }
  var isInactive: Bool { rawValue & Self.inactive.rawValue != 0 }
  /// Whether nothing may start.
  @inline(__always) var isBlocking: Bool { rawValue != 0 }

  /// `nil`: suspended more than two thousand million times.
  @inline(__always)
  func suspended() -> Suspension? {
    count == Self.maxCount ? nil : Suspension(rawValue: rawValue + 1)
  }

  /// `nil`: not suspended.
  @inline(__always)
  func resumed() -> Suspension? {
    count == 0 ? nil : Suspension(rawValue: rawValue - 1)
  }

  /// As `resumed()`; `nil` also if nothing remains.
  @inline(__always)
  func resumedPartly() -> Suspension? { resumed().flatMap { $0.isBlocking ? $0 : nil } }

  func activated() -> Suspension { Suspension(count: count) }
}

extension Suspension {
  @inline(__always)
  func requireReleasable(label: @autoclosure () -> String) {
    if isBlocking { failReleased(label()) }
  }

  @inline(never)
  private func failReleased(_ label: String) {
    require(
      !isInactive,
      """
      The last reference to queue '\(label)' was released before the queue was activated. \
      Call activate() before letting it go.
      """)
    require(
      count == 0,
      """
      The last reference to queue '\(label)' was released while the queue was suspended. \
      Call resume() once per suspend() before letting it go.
      """)
  }
}
