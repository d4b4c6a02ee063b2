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
  /// It has been cancelled: it is to have no entry any more.
  @Cell private var isStopped = false
  /// The class of the queue that it was made with; `nil`: that is not to make it later.
  private let leewayBand: Band?
  /// On the clock that it goes by. From before anything can run on the lane until it is cancelled: a child that was
  /// forked finds the lane by it.
  @Cell private var entry: TimerHandle?
  /// 0: once.
  @Cell private var interval: UInt64 = 0

  init(queue: DispatchQueue?, isStrict: Bool) {
    leewayBand = isStrict ? nil : queue?.ownQoS.band ?? .unspecified
    super.init(queue: queue, isRegistered: false)
  }

  override var laneLabel: String { "timer source" }

  deinit {
    if let entry { withTimers { $0.putBack(entry) } }
  }

  @inline(__always)
  private func withTimers<Result>(_ body: (Timers) -> Result) -> Result {
    Events.withTimers(isWall: isWall, body)
  }

  /// With the lock held.
  private func ensureEntry() -> TimerHandle {
    if let entry { return entry }
    let made = withTimers { $0.makeEntry(for: self) }
    entry = made
    return made
  }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  override func willRegister() {
    lock.withLock { if !isStopped { _ = ensureEntry() } }
  }

  override func startMonitoring() {
    lock.withLock {
      if isStopped { return }
      isMonitoring = true
      let entry = ensureEntry()
      withTimers { $0.arm(entry) }
    }
  }

  override func stopMonitoring() {
    lock.withLock {
      isMonitoring = false
      isStopped = true
      if let entry { withTimers { $0.putBack(entry) } }
      entry = nil
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
    let leeway = max(
      leeway, classLeeway(interval > 0 ? nil : target, interval, onWall: isOnWall))
    lock.withLock {
      if isStopped { return }
      self.interval = interval
      if let entry, isOnWall == isWall {
        withTimers { $0.schedule(entry, at: target, leeway: leeway, arms: isMonitoring) }
        return
      }
      if let entry { withTimers { $0.putBack(entry) } }
      isWall = isOnWall
      entry = withTimers {
        $0.makeEntry(for: self, at: target, leeway: leeway, arms: isMonitoring)
      }
    }
  }

  /// By how much the class of the handler's work allows the timer to be late.
  private func classLeeway(_ target: UInt64?, _ interval: UInt64, onWall: Bool) -> UInt64 {
    guard let leewayBand else { return 0 }
    let queueQoS = PackedQoS(band: leewayBand)
    let item = PackedQoS(rawValue: eventQoS.load(ordering: .relaxed))
    let allowed = ClassEffects.of(QoSPropagation.effective(item: item, queue: queueQoS).band).leeway
    if allowed == .none { return 0 }
    guard let target else { return allowed.nanoseconds(after: interval) }
    let now = onWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds()
    return allowed.nanoseconds(after: target > now ? target - now : 0)
  }

  /// How many times the timer has fired since the last event; arms it for the next time.
  override func takeData() -> UInt64? {
    lock.withLock {
      guard isMonitoring, let entry else { return nil }
      return withTimers { $0.answer(entry, interval: interval) }
    }
  }
}

extension DispatchSource {
  /// How a timer is made.
  public struct TimerFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The leeway is as asked for, however small, also for work of the classes background and utility.
    public static let strict = TimerFlags(rawValue: 1)
  }

  /// Makes a timer, which fires nothing before `schedule` and `activate()`.
  ///
  /// - Parameters:
  ///   - flags: `.strict` where the leeway must not be widened. It is where the class of the queue, or of the event
  ///     handler where the queue has none, is background or utility when the timer is scheduled: to a tenth of the
  ///     interval or delay, a second at most, or to a twentieth, a tenth of a second at most.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_TIMER`, `dispatch_source_create(3)`.
  public class func makeTimerSource(
    flags: TimerFlags = [], queue: DispatchQueue? = nil
  ) -> any DispatchSourceTimer {
    TimerSource(queue: queue, isStrict: flags.contains(.strict))
  }
}
