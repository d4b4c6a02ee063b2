// Room: Events/Events. What the engine listens to, of one runtime.

final class Events: @unchecked Sendable {
  /// What the public API speaks to.
  #if GRANDCENTRAL_MODEL
    static var shared: Events { ModelEvents.current }
  #else
    static let shared = Events(pool: Runtime.shared.pool)
  #endif

  let poller: Poller
  let monotonic: Timers
  let wall: Timers
  let descriptors: DescriptorTable
  let signals: Signals
  let processChanges: ProcessChanges
  let files: FileWatches
  let memory: MemoryPressure

  init(pool: Pool) {
    poller = Poller(pool: pool)
    monotonic = Timers(clock: .monotonic, poller: poller)
    wall = Timers(clock: .wall, poller: poller)
    descriptors = DescriptorTable(poller: poller)
    signals = Signals(poller: poller)
    processChanges = ProcessChanges(poller: poller)
    files = FileWatches(poller: poller, descriptors: descriptors)
    memory = MemoryPressure(poller: poller, timers: monotonic)
  }
}
