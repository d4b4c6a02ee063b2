// Room: Events/TimerEntry. Something that is due at a time: a timer source, or work for later.
//   idle ─arm→ armed ─its time comes→ fired ─arm→ armed        armed, fired ─disarm→ idle
// All of it is guarded by the lock of the Timers that it is with.

/// Who is told that its time has come.
protocol TimerReceiver: AnyObject {
  /// On a thread of the poller, outside of the timers' lock. Must not sleep.
  func timerFired(on thread: ThreadContext)
}

class TimerEntry: @unchecked Sendable {
  enum State { case idle, armed, fired }

  @Cell final var state = State.idle
  /// Not before.
  @Cell final var target: UInt64 = 0
  /// Not much after: between the two it may wait for others, so that one wake-up serves them all.
  @Cell final var latest: UInt64 = 0
  /// Whether it can wait for others; in both heaps only then.
  final var hasLeeway: Bool { latest > target }
  /// Where it is in the two heaps.
  @Cell final var placeByTarget = 0
  @Cell final var placeByLatest = 0

  /// Under the lock, when its time has come. `nil`: nobody is left to be told.
  func receiver() -> (any TimerReceiver)? { nil }
}
