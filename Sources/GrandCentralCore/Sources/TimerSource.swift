// Room: Sources/TimerSource. Events by the clock.
// The timer's entry is taken back before the source dies, so a source that nobody holds is not kept by its timer. When
// the time has come the entry waits, fired, until the handler is about to run: only then is it armed again, by the
// clock as it is then. So a source that is suspended, or whose handler takes its time, costs no wake-ups, is told how
// many intervals have gone by, and never drifts.
// What the entry does not say is guarded by the lock of the timers as well: one lock for all that a timeout a request
// needs of them.

private final class TimerSource: DispatchSource, @unchecked Sendable {
  /// Guarded by the timers' lock.
  @Cell private var isWall = false
  @Cell private var isMonitoring = false
  /// It has been cancelled: it is to have no entry any more.
  @Cell private var isStopped = false
  /// The class of the queue that it was made with; `nil`: that is not to make it later.
  private let isStrict: Bool
  /// On the clock that it goes by. From before anything can run on the lane until it is cancelled: a child that was
  /// forked finds the lane by it.
  @Cell private var entry: TimerHandle?
  /// 0: once.
  @Cell private var interval: UInt64 = 0

  init(queue: DispatchQueue?, isStrict: Bool) {
    self.isStrict = isStrict
    super.init(queue: queue, isRegistered: false)
  }

  override var laneLabel: String { "timer source" }

  deinit {
    // Nobody else has it any more; but whose time comes is looked up under the lock.
    if $entry != nil { Events.withTimerLock { putBackEntry($0) } }
  }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  override func willRegister() {
    Events.withTimerLock { if !isStopped { _ = ensureEntry($0) } }
  }

  override func startMonitoring() {
    Events.armTimers {
      if isStopped { return nil }
      isMonitoring = true
      let entry = ensureEntry($0)
      return $0.withTimers(isWall: isWall) {
        $0.arm(entry)
        return $0.lacksAlarm ? $0 : nil
      }
    }
  }

  override func stopMonitoring() {
    Events.withTimerLock {
      isMonitoring = false
      isStopped = true
      putBackEntry($0)
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
    Events.armTimers {
      if isStopped { return nil }
      self.interval = interval
      if isOnWall != isWall { putBackEntry($0) }
      isWall = isOnWall
      return $0.withTimers(isWall: isOnWall) {
        if let entry {
          $0.schedule(entry, at: target, leeway: leeway, arms: isMonitoring)
        } else {
          entry = $0.makeEntry(for: self, at: target, leeway: leeway, arms: isMonitoring)
        }
        return $0.lacksAlarm ? $0 : nil
      }
    }
  }

  // MARK: With the timers' lock held

  private func ensureEntry(_ events: Events) -> TimerHandle {
    if let entry { return entry }
    let made = events.withTimers(isWall: isWall) { $0.makeEntry(for: self) }
    entry = made
    return made
  }

  private func putBackEntry(_ events: Events) {
    guard let entry else { return }
    events.withTimers(isWall: isWall) { $0.putBack(entry) }
    self.entry = nil
  }

  // MARK: Events

  /// By how much the class of the handler's work allows the timer to be late.
  private func classLeeway(_ target: UInt64?, _ interval: UInt64, onWall: Bool) -> UInt64 {
    if isStrict { return 0 }
    let item = PackedQoS(rawValue: eventQoS.load(ordering: .relaxed))
    let runsAt = effectiveQoS(WorkTraits(qos: item))
    let allowed = ClassEffects.of(runsAt.band).leeway
    if allowed == .none { return 0 }
    guard let target else { return allowed.nanoseconds(after: interval) }
    let now = onWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds()
    return allowed.nanoseconds(after: target > now ? target - now : 0)
  }

  /// How many times the timer has fired since the last event; arms it for the next time.
  override func takeData() -> UInt64? {
    Events.withTimerLock {
      guard isMonitoring, let entry else { return nil }
      return $0.withTimers(isWall: isWall) { $0.answer(entry, interval: interval) }
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
