// Room: Sources/Timer/TimerSource. Sources that fire by the clock.
// The source puts its timer entry back before it dies, so the timer does not keep it alive. When
// the time has come, the entry stays fired until the handler is about to run. Only then is it armed
// again, by the clock at that moment. So a source that is suspended, or whose handler is slow,
// causes no wake-ups, learns how many intervals have passed, and never drifts.
// The lock of the source's home guards its own timer state as well: a timeout per request then
// takes one lock for everything, unless it has leeway and its home is not the first shard.
import CGrandCentralLinux

private final class TimerSource: DispatchSource, @unchecked Sendable {
  /// The shard whose lock guards what follows, and the first one, which may be the same.
  private let home: Unmanaged<TimerShard>
  private let shared: Unmanaged<TimerShard>
  /// The timers that the entry belongs to.
  @Cell private var timers: Unmanaged<Timers>
  @Cell private var isMonitoring = false
  /// Cancelled: the source must not have an entry any more.
  @Cell private var isStopped = false
  /// Whether the leeway stays as asked for, whatever the class of the work.
  private let isStrict: Bool
  /// The entry: a forked child finds the lane by it. It exists from before anything can run on the
  /// lane until cancellation, and while a cancellation is on the lane.
  @Cell private var entry: TimerHandle?
  /// The interval in nanoseconds; 0: fire once.
  @Cell private var interval: UInt64 = 0

  init(queue: DispatchQueue?, isStrict: Bool) {
    self.isStrict = isStrict
    // SAFETY: the shared reactor lives as long as the process, and so do its shards and timers.
    (home, shared) = Reactor.reference._withUnsafeGuaranteedRef {
      ($0.nextTimerShard(), $0.sharedTimers)
    }
    timers = home._withUnsafeGuaranteedRef { $0.timers(isWall: false) }
    super.init(queue: queue, isRegistered: false)
  }

  override var laneLabel: String { "timer source" }

  deinit {
    // No reference is left; but a thread that fires timers looks the source up under the lock.
    if $entry != nil { withLock { putBackEntry() } }
  }

  override func eventCame(on thread: ThreadContext) { signal(from: thread) }

  override func willRegister() { withLock { if !isStopped { _ = ensureEntry() } } }

  override func startMonitoring() {
    arm {
      if isStopped { return false }
      isMonitoring = true
      let entry = ensureEntry()
      return withTimers {
        $0.arm(entry)
        return $0.lacksTimerFD
      }
    }
  }

  override func stopMonitoring() {
    withLock {
      isMonitoring = false
      isStopped = true
      putBackEntry()
    }
  }

  /// Otherwise a forked child would not find the lane, and would run the parent's cancel handler
  /// when it resumes the source, or leaves the event handler in which it was forked. A fork between
  /// stopMonitoring() and here finds no node on the lane that calls a handler.
  override func willQueueCancellation() { withLock { _ = ensureEntry() } }

  override func schedule(_ limit: TimeLimit, interval: UInt64, leeway: UInt64) {
    let target: UInt64
    var isWall = false
    switch limit {
    case .forever: target = .max
    case .now: target = Clock.monotonicNanoseconds()
    case .at(.monotonic(let nanoseconds)): target = nanoseconds
    case .at(.wall(let nanoseconds)): (target, isWall) = (nanoseconds, true)
    }
    let leeway = max(
      leeway, classLeeway(interval > 0 ? nil : target, interval, onWall: isWall))
    // SAFETY: as in init().
    let wanted = (leeway > 0 ? shared : home)._withUnsafeGuaranteedRef {
      $0.timers(isWall: isWall)
    }
    arm {
      if isStopped { return false }
      self.interval = interval
      if wanted.toOpaque() != timers.toOpaque() { putBackEntry() }
      timers = wanted
      return withTimers {
        if let entry {
          $0.schedule(entry, at: target, leeway: leeway, arms: isMonitoring)
        } else {
          entry = $0.makeEntry(for: self, at: target, leeway: leeway, arms: isMonitoring)
        }
        return $0.lacksTimerFD
      }
    }
  }

  // MARK: The locks

  /// Calls `body` with the lock of the source's home held.
  @inline(__always)
  private func withLock<Result>(_ body: () -> Result) -> Result {
    // SAFETY: as in init().
    home._withUnsafeGuaranteedRef { home in home.lock.pointee.withLock { body() } }
  }

  /// Calls `body` as `withLock` does. `body` returns whether the timers lack their descriptor; it
  /// is then made.
  @inline(__always)
  private func arm(_ body: () -> Bool) {
    let lacking: Unmanaged<Timers>? = withLock { body() ? timers : nil }
    lacking?._withUnsafeGuaranteedRef { $0.makeTimerFD() }
  }

  /// Calls `body` with the entry's timers and their lock held. Requires the lock of the home.
  @inline(__always)
  private func withTimers<Result>(_ body: (Timers) -> Result) -> Result {
    // SAFETY: as in init().
    timers._withUnsafeGuaranteedRef { timers in
      home._withUnsafeGuaranteedRef { home in
        timers.lock == home.lock ? body(timers) : timers.lock.pointee.withLock { body(timers) }
      }
    }
  }

  // MARK: With the lock of the home held

  private func ensureEntry() -> TimerHandle {
    if let entry { return entry }
    let made = withTimers { $0.makeEntry(for: self) }
    entry = made
    return made
  }

  private func putBackEntry() {
    guard let entry else { return }
    withTimers { $0.putBack(entry) }
    self.entry = nil
  }

  // MARK: Events

  /// Returns the extra leeway that the class of the handler's work allows, in nanoseconds.
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

  /// Returns the number of times that the timer has fired since the last event, and arms it for the
  /// next time.
  override func takeData() -> UInt64? {
    var due: UInt64?
    let data: UInt64? = withLock {
      guard isMonitoring, let entry else { return nil }
      return withTimers {
        if $0.clock == .monotonic { due = entry.pointee.latest }
        return $0.answer(entry, interval: interval)
      }
    }
    if gc_records_events(), data != nil, let due {
      let now = Clock.monotonicNanoseconds()
      BlackBox.recordTimer(lateBy: now > due ? now - due : 0, place: placeOfItems().place)
    }
    return data
  }
}

extension DispatchSource {
  /// Options of a timer source.
  ///
  /// - Source: `DISPATCH_TIMER_STRICT`, `dispatch/source.h` of the public reference.
  public struct TimerFlags: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt
    /// Makes a set of options from its bits.
    ///
    /// - Parameter rawValue: the bits of the options.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Keeps the leeway as asked for, also for work of the classes background and utility.
    public static let strict = TimerFlags(rawValue: 1)
  }

  /// Makes a timer source, which fires after `schedule` and `activate()`.
  ///
  /// - Parameters:
  ///   - flags: `.strict` if the leeway must not be widened. Otherwise it is widened if the class
  ///     of the queue, or of the event handler if the queue has none, is background or utility when
  ///     the timer is scheduled. Background: to a tenth of the interval or delay, at most 1 s.
  ///     Utility: to a twentieth, at most 100 ms.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_TIMER`, `dispatch_source_create(3)`.
  public class func makeTimerSource(
    flags: TimerFlags = [], queue: DispatchQueue? = nil
  ) -> any DispatchSourceTimer {
    TimerSource(queue: queue, isStrict: flags.contains(.strict))
  }
}
