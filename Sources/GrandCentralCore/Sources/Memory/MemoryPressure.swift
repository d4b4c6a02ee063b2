// Room: Sources/Memory/MemoryPressure. Watches how scarce memory is, and notifies its listeners.
//   no listener: nothing is open        the first joins: triggers are opened, a first sample
//   normal ─a trigger: its level, or the sample's→ warning, critical ─a sample every 2 s→ normal
// The kernel reports when memory becomes scarce, never when it no longer is. So a timer samples
// while memory is scarce, and only then. Samples are at least 1 s apart, unless a trigger reports a
// higher level than the current one: a program at the edge of its limit fires triggers a hundred
// times a second.
// Triggers that the kernel refuses for good are left out. Triggers for which there is no descriptor
// are retried (Poller+Shortage).

/// A listener: a memory pressure source.
protocol MemoryListener: AnyObject, Sendable {
  /// Reports a new level. Any thread that holds no lock. Must not sleep.
  func memoryPressureIs(_ level: MemoryLevel, on thread: ThreadContext)
}

final class MemoryEntry: @unchecked Sendable {
  /// Weak, so that the entry does not keep its source alive.
  weak var listener: (any MemoryListener)?
}

final class MemoryPressure: @unchecked Sendable {
  /// The shortest time between samples, and the time while memory is scarce; in nanoseconds.
  struct Pace: Sendable {
    var shortest: UInt64 = MemoryLevel.shortestSpan
    var whileScarce: UInt64 = 2_000_000_000
  }

  let poller: Poller
  private let timers: Timers
  private let kernel: MemoryKernel
  private let pace: Pace
  private let looker = LookTimer()
  private let timer: TimerHandle
  private let hasReported = Atomic<Bool>(false)
  let lock = Lock()
  /// Guarded by the lock, as are the properties below.
  @Cell var entries: [MemoryEntry] = []
  @Cell var triggers: [TriggerWatch] = []
  /// Triggers for which the system has no descriptor at present.
  @Cell var lacking: [MemoryTrigger] = []
  @Cell private var places = MemoryPlaces()
  @Cell var level = MemoryLevel.normal
  /// The sample, and its time, from which stalls are counted.
  @Cell private var base: (sample: MemorySample, time: UInt64) = (MemorySample(), 0)
  @Cell private var lastLook: UInt64 = 0
  @Cell var willLook = false

  init(
    poller: Poller, timers: Timers, kernel: MemoryKernel = .machine, pace: Pace = Pace()
  ) {
    self.poller = poller
    self.timers = timers
    self.kernel = kernel
    self.pace = pace
    let looker = looker
    timer = timers.change { $0.makeEntry(for: looker) }
    looker.pressure = self
  }

  deinit { timers.change { $0.putBack(timer) } }

  // MARK: Entries

  /// Begins to report each change of the level to `entry`, and the current level unless it is
  /// normal. Any thread.
  func join(_ entry: MemoryEntry, on thread: ThreadContext) {
    let set = poller.prepare()
    var error: Int32 = 0
    var isDeaf = false
    let reached: MemoryLevel = lock.withLock {
      entries.append(entry)
      if entries.count == 1 {
        start()
        error = openTriggers(set)
        look(atLeast: .normal, at: base.time)
      }
      isDeaf = triggers.isEmpty && lacking.isEmpty
      return level
    }
    if isDeaf { reportDeafness() }
    if error != 0 { poller.lack(self, error: error) }
    if reached != .normal { entry.listener?.memoryPressureIs(reached, on: thread) }
  }

  /// Ends all reports to `entry`, except one that a thread is about to make. Any thread, any number
  /// of times.
  func leave(_ entry: MemoryEntry) {
    let ended: [TriggerWatch] = lock.withLock {
      guard let place = entries.firstIndex(where: { $0 === entry }) else { return [] }
      entries.remove(at: place)
      return entries.isEmpty ? stop() : []
    }
    for trigger in ended { poller.unregister(trigger.registration) }
  }

  // MARK: Kernel events

  fileprivate func fired(
    _ trigger: MemoryTrigger, _ readiness: Readiness, on thread: ThreadContext
  ) {
    // The control group is gone, and its trigger with it.
    if case .stall = trigger, readiness.contains(.error) { return }
    update(atLeast: trigger.level, on: thread)
  }

  private func update(atLeast least: MemoryLevel, on thread: ThreadContext) {
    let notified = lock.withLock { () -> (level: MemoryLevel, entries: [MemoryEntry]) in
      guard !entries.isEmpty else { return (.normal, []) }
      let now = timers.clock.nanoseconds
      if least <= level && now < lastLook + pace.shortest {
        if !willLook { armTimer(at: lastLook + pace.shortest) }
        return (level, [])
      }
      let before = level
      look(atLeast: least, at: now)
      return (level, level == before ? [] : entries)
    }
    for entry in notified.entries { entry.listener?.memoryPressureIs(notified.level, on: thread) }
  }

  // MARK: With the lock held

  private func start() {
    places = MemoryPlaces.find(kernel)
    level = .normal
    base = (places.sample(kernel), timers.clock.nanoseconds)
  }

  private func look(atLeast least: MemoryLevel, at now: UInt64) {
    let sample = places.sample(kernel)
    let span = now - min(now, base.time)
    level = max(
      least,
      level.next(from: base.sample, to: sample, nanoseconds: span, shortestSpan: pace.shortest))
    if span >= pace.shortest || sample.kills != base.sample.kills { base = (sample, now) }
    lastLook = now
    if level == .normal { disarmTimer() } else { armTimer(at: now + pace.whileScarce) }
  }

  private func armTimer(at time: UInt64) {
    willLook = true
    timers.change {
      $0.arm(timer, at: time, until: TimerEntry.latest(time, leeway: pace.shortest / 10))
    }
  }

  private func disarmTimer() {
    willLook = false
    timers.change { $0.disarm(timer) }
  }

  /// Opens the triggers. Returns 0, or the errno of a descriptor that was refused for now.
  private func openTriggers(_ set: Int32) -> Int32 {
    let wanted = lacking.isEmpty ? places.triggers(kernel) : lacking
    lacking = []
    for (place, trigger) in wanted.enumerated() {
      let descriptor = set >= 0 ? kernel.open(trigger) : -EMFILE
      if descriptor >= 0 {
        let error = add(trigger, descriptor)
        if error == 0 { continue }
        close(descriptor)
        // The file does not support readiness: epoll_ctl(2).
        if error == EPERM { continue }
        lacking = Array(wanted[place...])
        return error
      }
      // Any other refusal is final: no such file, no permission, or not compiled in.
      guard [EMFILE, ENFILE, ENOMEM].contains(-descriptor) else { continue }
      lacking = Array(wanted[place...])
      return -descriptor
    }
    return 0
  }

  private func add(_ trigger: MemoryTrigger, _ descriptor: Int32) -> Int32 {
    let watch = TriggerWatch(trigger, descriptor, of: self)
    switch poller.register(watch, for: descriptor, trigger.readiness, .edge) {
    case .failure(let refusal): return refusal.number
    case .success(let registration):
      watch.registration = registration
      triggers.append(watch)
      return 0
    }
  }

  /// Closes everything, and returns the triggers to unregister.
  private func stop() -> [TriggerWatch] {
    defer { triggers = [] }
    for trigger in triggers {
      poller.withdraw(trigger.registration)
      close(trigger.descriptor)
    }
    disarmTimer()
    lacking = []
    level = .normal
    return triggers
  }

  // MARK: Reports

  private func reportDeafness() {
    guard !hasReported.exchange(true, ordering: .relaxed) else { return }
    report(
      .memoryPressureUnknown,
      """
      GRAND CENTRAL: The kernel does not report memory pressure here: /proc/pressure/memory, \
      memory.pressure, \
      memory.events and memory.pressure_level of the control group are missing or refused. Sources \
      of memory \
      pressure get no events. Boot with psi=1, and let the process write these files.
      """)
  }
}

extension MemoryPressure: ResourceRetry {
  func tryAgain(on thread: ThreadContext) -> Bool {
    let set = poller.prepare()
    return lock.withLock {
      if lacking.isEmpty { return true }
      return openTriggers(set) == 0
    }
  }
}

extension MemoryPressure {
  fileprivate func lookAgain(on thread: ThreadContext) {
    lock.withLock { willLook = false }
    update(atLeast: .normal, on: thread)
  }
}

/// Receives the timer that samples while memory is scarce. A lane, because timers notify lanes;
/// nothing is ever queued on it.
private final class LookTimer: Lane, @unchecked Sendable {
  weak var pressure: MemoryPressure?

  init() { super.init(kind: .root, qos: .unspecified, target: nil) }

  override var laneLabel: String { "memory pressure" }

  override func eventCame(on thread: ThreadContext) { pressure?.lookAgain(on: thread) }
}

/// One of the kernel's triggers, in the poller.
final class TriggerWatch: ReadinessReceiver, @unchecked Sendable {
  let trigger: MemoryTrigger
  let descriptor: Int32
  let pressure: MemoryPressure
  /// Written once. Guarded by the lock of `pressure`.
  @Cell var registration = Registration(key: .max)

  init(_ trigger: MemoryTrigger, _ descriptor: Int32, of pressure: MemoryPressure) {
    self.trigger = trigger
    self.descriptor = descriptor
    self.pressure = pressure
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    pressure.fired(trigger, readiness, on: thread)
  }
}
