// Room: Events/Events. What the engine listens to, of one runtime.

final class Events: @unchecked Sendable {
  /// What the public API speaks to.
  #if GRANDCENTRAL_MODEL
    static var reference: Unmanaged<Events> { Unmanaged.passUnretained(ModelEvents.current) }
  #else
    static var reference: Unmanaged<Events> {
      Runtime.shared.events.reference {
        let made = Events(pool: Runtime.shared.pool)
        LaneRegistry.add(annex: { made.visitTimers($0) })
        ForkGate.whenForked { made.afterFork() }
        return made
      }
    }
  #endif
  static var shared: Events { reference.takeUnretainedValue() }

  let poller: Poller
  let monotonic: Timers
  let wall: Timers
  let descriptors: DescriptorTable
  let signals: Signals
  let processChanges: ProcessChanges
  let files: FileWatches
  let memory: MemoryPressure
  // The timers of both clocks once more, for who arms one a request: without a count of references on the way.
  private let monotonicReference: Unmanaged<Timers>
  private let wallReference: Unmanaged<Timers>
  private let timerLock: UnsafeMutablePointer<Lock>

  init(pool: Pool) {
    poller = Poller(pool: pool)
    monotonic = Timers(clock: .monotonic, poller: poller)
    wall = Timers(clock: .wall, poller: poller, sharing: monotonic)
    timerLock = monotonic.lock
    descriptors = DescriptorTable(poller: poller)
    signals = Signals(poller: poller)
    processChanges = ProcessChanges(poller: poller)
    files = FileWatches(poller: poller, descriptors: descriptors)
    memory = MemoryPressure(poller: poller, timers: monotonic)
    monotonicReference = Unmanaged.passUnretained(monotonic)
    wallReference = Unmanaged.passUnretained(wall)
  }

}

// MARK: Timers, for who arms one a request: without a count of references on the way

extension Events {
  @inline(__always)
  func withTimers<Result>(isWall: Bool, _ body: (Timers) -> Result) -> Result {
    // SAFETY: this owns both.
    (isWall ? wallReference : monotonicReference)._withUnsafeGuaranteedRef(body)
  }

  /// Calls `body` with the shared events, and the lock of all their timers held.
  @inline(__always)
  static func withTimerLock<Result>(_ body: (Events) -> Result) -> Result {
    // SAFETY: the shared events live as long as the process.
    reference._withUnsafeGuaranteedRef { events in
      events.timerLock.pointee.withLock { body(events) }
    }
  }

  /// The same. `body` returns what it has armed, if that lacks its alarm, which is made then.
  @inline(__always)
  static func armTimers(_ body: (Events) -> Timers?) { withTimerLock(body)?.makeAlarm() }
}

extension Events {
  fileprivate func visitTimers(_ body: LaneRegistry.Visitor) {
    monotonic.visitLanes(body)
    wall.visitLanes(body)
  }

  /// In a child that was forked, by its only thread: nothing is listened to (Queues/Runtime+Fork).
  fileprivate func afterFork() {
    for receiver in poller.afterFork(on: currentThread()) { receiver.afterFork() }
    monotonic.disarmAll()
    wall.disarmAll()
    descriptors.afterFork()
    signals.forgetAll()
    processChanges.forgetAll()
    files.forgetAll()
    memory.forgetAll()
  }
}
