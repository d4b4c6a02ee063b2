// Room: Reactor/Reactor. What one runtime waits for: descriptors and times.
// Sources and `asyncAfter` use it. What only one kind of source watches is in Sources/Watchers.

final class Reactor: @unchecked Sendable {
  let poller: Poller
  let monotonic: Timers
  let wall: Timers
  let descriptors: DescriptorTable
  // Unmanaged copies of both timers, for programs that arm one per request: using them counts no
  // references.
  private let monotonicReference: Unmanaged<Timers>
  private let wallReference: Unmanaged<Timers>
  /// The lock of all timers.
  let timerLock: UnsafeMutablePointer<Lock>

  init(pool: Pool) {
    poller = Poller(pool: pool)
    monotonic = Timers(clock: .monotonic, poller: poller)
    wall = Timers(clock: .wall, poller: poller, sharing: monotonic)
    timerLock = monotonic.lock
    descriptors = DescriptorTable(poller: poller)
    monotonicReference = Unmanaged.passUnretained(monotonic)
    wallReference = Unmanaged.passUnretained(wall)
  }

  /// Calls `body` with the timers of a clock, without reference counting.
  @inline(__always)
  func withTimers<Result>(isWall: Bool, _ body: (Timers) -> Result) -> Result {
    // SAFETY: this owns both.
    (isWall ? wallReference : monotonicReference)._withUnsafeGuaranteedRef(body)
  }
}
