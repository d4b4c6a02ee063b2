// Room: Sources/Watchers. What sources of one kind share: made on first use, one for the runtime.

final class Watchers: @unchecked Sendable {
  let signals: Signals
  let processChanges: ProcessChanges
  let files: FileWatches
  let memory: MemoryPressure

  static var shared: Watchers {
    Runtime.shared.watchers.get {
      // Made after the reactor, so a child resets it after the reactor.
      Watchers(of: Reactor.shared)
    }
  }

  private init(of reactor: Reactor) {
    let poller = reactor.poller
    signals = Signals(poller: poller)
    processChanges = ProcessChanges(poller: poller)
    files = FileWatches(poller: poller, descriptors: reactor.descriptors)
    memory = MemoryPressure(poller: poller, timers: reactor.monotonic)
  }
}
