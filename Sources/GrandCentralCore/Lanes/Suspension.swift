// Room: Lanes/Suspension. How often a lane is suspended, and whether it was activated.
// A pure value, guarded by the lane's control lock. The lane's state word says by itself that one
// suspend() is in effect; this value counts only what exceeds that: see Lane+Suspend.
//   inactive ─activate→ running ─suspend→ 1 ─suspend→ 2 ─resume→ 1 ─resume→ running
// An inactive object can be suspended too. It then needs both activate() and the balancing resumes.

struct Suspension: Hashable {
  var count: UInt32 = 0
  var isInactive = false

  static var inactive: Suspension { Suspension(isInactive: true) }

  /// Whether nothing may start.
  var isBlocking: Bool { count > 0 || isInactive }

  /// `nil`: suspended more than four thousand million times.
  func suspended() -> Suspension? {
    let (next, overflows) = count.addingReportingOverflow(1)
    return overflows ? nil : Suspension(count: next, isInactive: isInactive)
  }

  /// `nil`: not suspended.
  func resumed() -> Suspension? {
    count == 0 ? nil : Suspension(count: count - 1, isInactive: isInactive)
  }

  func activated() -> Suspension { Suspension(count: count, isInactive: false) }
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
