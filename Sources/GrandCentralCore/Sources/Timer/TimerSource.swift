// Room: Sources/Timer/TimerSource. Sources that fire by the clock.
// The source puts its timer entry back before it ends, so the timer does not keep it alive. When
// the time has come, the setting stays fired until the handler is about to run. Only then is it
// armed again, by the clock at that moment. So a source that is suspended, or whose handler is
// slow, causes no wake-ups, learns how many intervals have passed, and never drifts.
// The source's lock guards what the source is scheduled for. Its entry lies in a shard of the
// timers, whose lock is only taken to change the heaps: a timer that is scheduled later and later
// takes its own lock alone (TimerSetting). A thread that holds the source's lock may take that of a
// shard; a thread that holds a shard's takes no source's.
import CGrandCentralLinux

final class TimerSource: DispatchSource, @unchecked Sendable {
  // Bytes first: they lie beside the last one of the base class.
  /// Which timers the entry belongs to.
  @Cell private var place = Place(isWall: false, isShared: false)
  @Cell private var isMonitoring = false
  /// Cancelled: the source must not have an entry any more.
  @Cell private var isStopped = false
  /// Whether the leeway stays as asked for, whatever the class of the work.
  private let isStrict: Bool
  /// The shard of the timer while it has no leeway.
  private let home: Unmanaged<TimerShard>
  /// The entry: a forked child finds the lane by it. It exists from the activation, before the
  /// timer can fire, until cancellation, and while a cancellation is on the lane.
  @Cell private var entry: TimerHandle?
  private var setting = TimerSetting()

  private struct Place: Equatable {
    var isWall: Bool
    /// In the first shard, where timers with leeway wait for each other.
    var isShared: Bool
  }

  init(queue: DispatchQueue?, isStrict: Bool) {
    self.isStrict = isStrict
    // SAFETY: the shared reactor lives as long as the process, and so do its shards and timers.
    home = Reactor.reference._withUnsafeGuaranteedRef { $0.nextTimerShard() }
    super.init(queue: queue, isRegistered: false)
  }

  override var laneLabel: String { "timer source" }

  deinit {
    // No reference is left; but a thread that fires timers looks the source up by its entry.
    if $entry != nil { lock.withLock { putBackEntry() } }
  }

  override func willRegister() { lock.withLock { if !isStopped { ensureEntry() } } }

  override func startMonitoring() {
    change {
      if isStopped { return .isDone }
      isMonitoring = true
      return armOrNotify()
    }
  }

  override func stopMonitoring() {
    lock.withLock {
      isMonitoring = false
      isStopped = true
      setting.disarm()
      putBackEntry()
    }
  }

  /// Otherwise a forked child would not find the lane, and would run the parent's cancel handler
  /// when it resumes the source, or leaves the event handler in which it was forked. A fork between
  /// stopMonitoring() and here finds no node on the lane that calls a handler.
  override func willQueueCancellation() { lock.withLock { ensureEntry() } }

  /// Forgets when it would fire, without its entry, which holds nothing any more.
  final func forgetTime() {
    if setting.phase != .idle { setting.disarm() }
  }

  override func schedule(_ limit: TimeLimit, interval: UInt64, leeway: UInt64) {
    let target: UInt64
    var isWall = false
    switch limit {
    case .forever: target = .max
    case .now: target = Clock.monotonicNanoseconds()
    case .at(.monotonic(let nanoseconds)): target = nanoseconds
    case .at(.wall(let nanoseconds)): (target, isWall) = (nanoseconds, true)
    }
    // A repeating timer waits for others at most half an interval.
    let most = interval > 0 ? interval / 2 : UInt64.max
    let leeway = min(
      most, max(leeway, classLeeway(interval > 0 ? nil : target, interval, onWall: isWall)))
    let wanted = Place(isWall: isWall, isShared: leeway > 0)
    change {
      if isStopped { return .isDone }
      // A time that never comes needs no other timers.
      if place == wanted || target == .max,
        setting.postpone(to: target, leeway: leeway, interval: interval)
      {
        return .isDone
      }
      move(to: wanted)
      setting.set(to: target, leeway: leeway, interval: interval)
      return isMonitoring ? armOrNotify() : .isDone
    }
  }

  private enum Change {
    case isDone, isDue
    case lacksTimerFD(Unmanaged<Timers>)
  }

  /// Calls `body` with the source's lock held, and then does what is left to do.
  @inline(__always)
  private func change(_ body: () -> Change) {
    switch lock.withLock(body) {
    case .isDone: break
    case .lacksTimerFD(let timers): timers._withUnsafeGuaranteedRef { $0.makeTimerFD() }
    case .isDue: eventCame(on: currentThread())
    }
  }

  // MARK: With the source's lock held

  private var timers: Unmanaged<Timers> {
    // SAFETY: as in init().
    let shard =
      place.isShared ? Reactor.reference._withUnsafeGuaranteedRef { $0.sharedTimers } : home
    return shard._withUnsafeGuaranteedRef { $0.timers(isWall: place.isWall) }
  }

  /// Calls `body` with the entry's timers and their lock held.
  @inline(__always)
  private func withTimers<Result>(_ body: (Timers) -> Result) -> Result {
    // SAFETY: as in init().
    timers._withUnsafeGuaranteedRef { timers in timers.lock.pointee.withLock { body(timers) } }
  }

  /// Arms the entry by the setting.
  private func arm() {
    setting.arm()
    withTimers { $0.arm(makeEntry(of: $0), at: setting.target, until: setting.latest) }
  }

  /// The same, unless the time has come and the caller must notify the lane.
  private func armOrNotify() -> Change {
    setting.arm()
    return withTimers {
      let entry = makeEntry(of: $0)
      $0.disarm(entry)
      if $0.isDueBeforeOthers(at: setting.target, until: setting.latest) { return .isDue }
      $0.arm(entry, at: setting.target, until: setting.latest)
      return $0.lacksTimerFD ? .lacksTimerFD(.passUnretained($0)) : .isDone
    }
  }

  /// Returns the entry; the lock of its timers is held.
  private func makeEntry(of timers: Timers) -> TimerHandle {
    let entry = self.entry ?? timers.makeEntry(for: self)
    self.entry = entry
    return entry
  }

  private func ensureEntry() {
    if entry == nil { entry = withTimers { $0.makeEntry(for: self) } }
  }

  private func putBackEntry() {
    guard let entry else { return }
    withTimers { $0.putBack(entry) }
    self.entry = nil
  }

  /// The timers at `wanted` have the entry from now on.
  private func move(to wanted: Place) {
    if place == wanted { return }
    let hadEntry = entry != nil
    putBackEntry()
    place = wanted
    if hadEntry { ensureEntry() }
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
    let leeway = allowed.nanoseconds(after: target > now ? target - now : 0)
    // Seven binary digits: a deadline that is moved by a constant time would otherwise have a
    // little less leeway every second time, as `now` is read a moment later, and TimerSetting could
    // not postpone it.
    return leeway & ~(UInt64.max >> (leeway.leadingZeroBitCount + 7))
  }

  override func eventCame(on thread: ThreadContext) {
    let fires = lock.withLock {
      switch setting.came(at: now) {
      case .fires: return true
      case .isOver: return false
      case .isEarly:
        // The timers have a descriptor, which has brought this thread, or without which
        // armOrNotify() would have armed the entry. Or they lack one already, or are a forked
        // child's, whose lost descriptor is made when it arms a timer.
        arm()
        return false
      }
    }
    if fires { signal(from: thread) }
  }

  /// Returns the number of times that the timer has fired since the last event, and arms it for the
  /// next time.
  override func takeData() -> UInt64? {
    var due: UInt64?
    let data: UInt64? = lock.withLock {
      guard isMonitoring else { return nil }
      if !place.isWall { due = setting.latest }
      guard let (count, repeats) = setting.answer(at: now) else { return nil }
      if repeats { arm() }
      return count
    }
    if gc_records_events(), data != nil, let due {
      let now = Clock.monotonicNanoseconds()
      BlackBox.recordTimer(lateBy: now > due ? now - due : 0, place: placeOfItems().place)
    }
    return data
  }

  private var now: UInt64 {
    place.isWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds()
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
