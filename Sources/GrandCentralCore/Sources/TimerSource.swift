// Room: Sources/TimerSource. Events by the clock.
// The timer's entry belongs to the source and refers back to it weakly, so that a source which nobody holds any
// more is not kept by its timer. When the time has come the entry waits, fired, until the handler is about to run:
// only then is it armed again, by the clock as it is then. So a source that is suspended, or whose handler takes
// its time, costs no wake-ups, is told how many intervals have gone by, and never drifts.
// The settings have a lock; under it, and before that of Timers, a change takes the entry off one clock and puts it
// on the other.

private final class TimerSource: DispatchSource, TimerReceiver, @unchecked Sendable {
  private struct Settings {
    var timers: Timers
    var target: UInt64
    /// 0: once.
    var interval: UInt64
    var leeway: UInt64
  }

  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var settings: Settings?
  @Cell private var isMonitoring = false
  private let entry = Entry()

  private final class Entry: TimerEntry, @unchecked Sendable {
    weak var source: TimerSource?

    override func receiver() -> (any TimerReceiver)? { source }
  }

  func timerFired(on thread: ThreadContext) { signal(from: thread) }

  init(queue: DispatchQueue?) {
    super.init(kind: "timer source", queue: queue)
    entry.source = self
  }

  deinit { stop() }

  override func startMonitoring() {
    lock.withLock {
      isMonitoring = true
      arm()
    }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    lock.withLock {
      isMonitoring = false
      settings?.timers.disarm(entry)
    }
  }

  /// With the lock held.
  private func arm() {
    guard isMonitoring, let settings, settings.target != .max else { return }
    settings.timers.arm(entry, at: settings.target, leeway: settings.leeway)
  }

  override func schedule(
    _ limit: TimeLimit, interval: UInt64, leeway: UInt64
  ) {
    let next: Settings
    switch limit {
    case .forever:
      next = Settings(timers: Events.shared.monotonic, target: .max, interval: 0, leeway: 0)
    case .now:
      next = Settings(
        timers: Events.shared.monotonic, target: Clock.monotonicNanoseconds(), interval: interval,
        leeway: leeway
      )
    case .at(.monotonic(let target)):
      next = Settings(
        timers: Events.shared.monotonic, target: target, interval: interval, leeway: leeway)
    case .at(.wall(let target)):
      next = Settings(
        timers: Events.shared.wall, target: target, interval: interval, leeway: leeway)
    }
    lock.withLock {
      settings?.timers.disarm(entry)
      settings = next
      arm()
    }
  }

  /// How many times the timer has fired since the last event; arms it for the next time.
  override func takeData() -> UInt64? {
    lock.withLock {
      guard isMonitoring, let settings else { return nil }
      var count: UInt64 = 1
      let hasFired = settings.timers.answer(entry, leeway: settings.leeway) { target in
        if settings.interval == 0 { return nil }
        let now = settings.timers.clock.nanoseconds
        count = (now > target ? (now - target) / settings.interval : 0) + 1
        let (elapsed, overflows) = count.multipliedReportingOverflow(by: settings.interval)
        let (next, overflowsToo) = target.addingReportingOverflow(elapsed)
        return overflows || overflowsToo ? nil : next
      }
      return hasFired ? count : nil
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
