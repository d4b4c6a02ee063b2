// Room: Sources/Timer/TimerSetting. The schedule of a timer source, and what the heaps hold for it.
//   idle ─arm→ armed ─its time has come→ fired ─answer→ idle, armed
//   armed ─postpone→ armed: the heaps stay as they are
//   armed ─came early→ armed anew                         all ─set→ idle
// A timeout is mostly moved to a later time before it expires. So a setting that is later than what
// the heaps hold is only noted here. When the held time comes, the timers' thread finds the noted
// one and arms the entry for that: at most one early wake-up for each time in the heaps.
// The source's lock guards all of it; the lock of the shard guards the heaps. The entry is put into
// the heaps with both locks held, and taken out for an expiry with the shard's alone. After that
// the thread that took it calls came(), with the source's lock. If the time has come when the entry
// is armed, it need not enter the heaps: the thread that arms it then calls came().
//   No firing is lost: while armed, the entry is in the heaps, for the held times, or a call of
//   came() is due. That call fires, or arms anew. The held times are not later than the wanted
//   ones, so it comes in time.
//   None is early or stale: only came() fires, if the setting is armed and its target has come. A
//   call for an entry that was armed anew in the meantime fires if the new target has come, and the
//   call for the new entry then finds the setting fired; otherwise it arms anew, which leaves the
//   entry as it is. Once postpone() or set() has returned, an older target fires no more.
// Invariant: armed ⇒ the held target is not after the wanted one, and the leeway has not shrunk.
// Unit tests: Tests/GrandCentralCoreTests/Sources/TimerSettingTests.swift. Models:
// EventSourceModels.

struct TimerSetting {
  enum Phase { case idle, armed, fired }

  /// The earliest time to fire at; `.max`: never.
  @Cell private(set) var target = UInt64.max
  /// How much later it may fire, in nanoseconds.
  @Cell private(set) var leeway: UInt64 = 0
  /// The interval in nanoseconds; 0: fire once.
  @Cell private(set) var interval: UInt64 = 0
  /// The target that the entry was armed for, or the phase: a program may make a timer per request,
  /// and a word of its own would cost each of them more than a byte.
  @Cell private var held = Self.idle

  private static let idle = UInt64.max
  private static let fired = UInt64.max - 1

  var phase: Phase {
    switch held {
    case Self.idle: .idle
    case Self.fired: .fired
    default: .armed
    }
  }

  /// The latest time to fire at.
  var latest: UInt64 { TimerEntry.latest(target, leeway: leeway) }

  /// Replaces the schedule of an armed setting by one that the heaps cover: not before the held
  /// target, and with no less leeway. Otherwise returns false, and changes nothing.
  mutating func postpone(to target: UInt64, leeway: UInt64, interval: UInt64) -> Bool {
    // A time that never comes has none.
    let leeway = target == .max ? self.leeway : leeway
    guard phase == .armed, target >= held, leeway >= self.leeway else { return false }
    (self.target, self.leeway, self.interval) = (target, leeway, interval)
    return true
  }

  /// Replaces the schedule, and discards an expiry that was not answered.
  mutating func set(to target: UInt64, leeway: UInt64, interval: UInt64) {
    (self.target, self.leeway, self.interval) = (target, leeway, interval)
    held = Self.idle
  }

  /// Notes that the caller arms the entry, from `target` to `latest`.
  mutating func arm() { held = target == .max ? Self.idle : min(target, Self.fired - 1) }

  /// Discards an expiry, and every later one.
  mutating func disarm() { held = Self.idle }

  enum Arrival { case fires, isEarly, isOver }

  /// The time that the entry was armed for has come. `isEarly`: the caller arms the entry again.
  mutating func came(at now: @autoclosure () -> UInt64) -> Arrival {
    guard phase == .armed else { return .isOver }
    guard now() >= target else { return .isEarly }
    held = Self.fired
    return .fires
  }

  /// Answers an expiry, and returns the number of intervals that have passed. `nil`: the setting
  /// has not fired, or was replaced since. `repeats`: the caller arms the entry for the next time.
  mutating func answer(at now: @autoclosure () -> UInt64) -> (count: UInt64, repeats: Bool)? {
    guard phase == .fired else { return nil }
    held = Self.idle
    if interval == 0 { return (1, false) }
    let now = now()
    let count = (now > target ? (now - target) / interval : 0) + 1
    let (elapsed, overflows) = count.multipliedReportingOverflow(by: interval)
    let (next, overflowsToo) = target.addingReportingOverflow(elapsed)
    if overflows || overflowsToo { return (count, false) }
    target = next
    return (count, true)
  }
}
