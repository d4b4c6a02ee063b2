// Room: Sources/TimerSource. Events by the clock.
// The timer's entry is taken back before the source dies, so a source that nobody holds is not kept by its timer. When
// the time has come the entry waits, fired, until the handler is about to run: only then is it armed again, by the
// clock as it is then. So a source that is suspended, or whose handler takes its time, costs no wake-ups, is told how
// many intervals have gone by, and never drifts.
// What the entry does not say is guarded by the source's lock; under it, and before that of Timers, a change takes the
// entry off one clock and puts another on the other.

private final class TimerSource: DispatchSource, @unchecked Sendable {
  /// Guarded by the lock.
  @Cell private var isWall = false
  @Cell private var isMonitoring = false
  @Cell private var entry: TimerHandle?
  /// 0: once.
  @Cell private var interval: UInt64 = 0

  init(queue: DispatchQueue?) { super.init(kind: "timer source", queue: queue) }

  deinit {
    if let entry { timers.putBack(entry) }
  }

  private var timers: Timers { isWall ? Events.shared.wall : Events.shared.monotonic }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  override func startMonitoring() {
    lock.withLock {
      isMonitoring = true
      if let entry { timers.arm(entry) }
    }
  }

  override func stopMonitoring() {
    lock.withLock {
      isMonitoring = false
      if let entry { timers.disarm(entry) }
    }
  }

  override func schedule(_ limit: TimeLimit, interval: UInt64, leeway: UInt64) {
    let target: UInt64
    var isOnWall = false
    switch limit {
    case .forever: target = .max
    case .now: target = Clock.monotonicNanoseconds()
    case .at(.monotonic(let nanoseconds)): target = nanoseconds
    case .at(.wall(let nanoseconds)): (target, isOnWall) = (nanoseconds, true)
    }
    lock.withLock {
      if isOnWall != isWall {
        if let entry { timers.putBack(entry) }
        entry = nil
        isWall = isOnWall
      }
      let entry = entry ?? timers.makeEntry(for: self)
      self.entry = entry
      self.interval = interval
      timers.schedule(entry, at: target, leeway: leeway, arms: isMonitoring)
    }
  }

  /// How many times the timer has fired since the last event; arms it for the next time.
  override func takeData() -> UInt64? {
    lock.withLock {
      guard isMonitoring, let entry else { return nil }
      return timers.answer(entry, interval: interval)
    }
  }
}

extension DispatchSource {
  /// How a timer is made.
  public struct TimerFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The leeway is as asked for, however small. So it is here without the flag, which is accepted.
    public static let strict = TimerFlags(rawValue: 1)
  }

  /// Makes a timer, which fires nothing before `schedule` and `activate()`.
  ///
  /// - Parameters:
  ///   - flags: `.strict` where the leeway must not be widened; here it never is.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_TIMER`, `dispatch_source_create(3)`.
  public class func makeTimerSource(
    flags: TimerFlags = [], queue: DispatchQueue? = nil
  ) -> any DispatchSourceTimer {
    TimerSource(queue: queue)
  }
}
