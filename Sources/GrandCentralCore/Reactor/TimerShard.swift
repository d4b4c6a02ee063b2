// Room: Reactor/TimerShard. The timers of both clocks under one lock, because a source can change
// clocks. Where there are many CPUs a reactor has several shards, so that threads that arm their
// own timers do not meet. The first one, `shared`, has all timers with leeway, which wait for each
// other, and all delayed work.
// A timer source has a home (Reactor.nextTimerShard). Its entry is there, or in the first shard. A
// thread that holds a shard's lock takes no source's, and no other shard's.

final class TimerShard: @unchecked Sendable {
  let monotonic: Timers
  let wall: Timers
  // Unmanaged copies of both, for programs that arm one per request: using them counts no
  // references.
  private let monotonicReference: Unmanaged<Timers>
  private let wallReference: Unmanaged<Timers>
  /// The lock of both clocks' timers.
  let lock: UnsafeMutablePointer<Lock>

  init(poller: Poller) {
    monotonic = Timers(clock: .monotonic, poller: poller)
    wall = Timers(clock: .wall, poller: poller, sharing: monotonic)
    lock = monotonic.lock
    monotonicReference = Unmanaged.passUnretained(monotonic)
    wallReference = Unmanaged.passUnretained(wall)
  }

  /// The timers of a clock. Valid as long as the shard.
  @inline(__always)
  func timers(isWall: Bool) -> Unmanaged<Timers> {
    isWall ? wallReference : monotonicReference
  }
}
