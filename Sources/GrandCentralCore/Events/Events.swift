// Room: Events/Events. All that one runtime listens to.

final class Events: @unchecked Sendable {
  /// The shared events, which the public API uses.
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
  // Unmanaged copies of both timers, for programs that arm one per request: using them counts no
  // references.
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

// MARK: Timers, without reference counting

extension Events {
  @inline(__always)
  func withTimers<Result>(isWall: Bool, _ body: (Timers) -> Result) -> Result {
    // SAFETY: this owns both.
    (isWall ? wallReference : monotonicReference)._withUnsafeGuaranteedRef(body)
  }

  /// Calls `body` with the shared events, while the lock of all their timers is held.
  @inline(__always)
  static func withTimerLock<Result>(_ body: (Events) -> Result) -> Result {
    // SAFETY: the shared events live as long as the process.
    reference._withUnsafeGuaranteedRef { events in
      events.timerLock.pointee.withLock { body(events) }
    }
  }

  /// Calls `body` as `withTimerLock` does. `body` returns the timers that lack their descriptor, or
  /// `nil`; the descriptor is then made.
  @inline(__always)
  static func armTimers(_ body: (Events) -> Timers?) { withTimerLock(body)?.makeTimerFD() }
}

extension Events {
  fileprivate func visitTimers(_ body: LaneRegistry.Visitor) {
    monotonic.visitLanes(body)
    wall.visitLanes(body)
  }

  /// Forgets all registrations in a forked child, on its only thread (Queues/Runtime+Fork).
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
