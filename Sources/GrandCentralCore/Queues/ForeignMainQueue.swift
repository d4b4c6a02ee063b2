// Room: Queues/ForeignMainQueue. The main queue of another Dispatch library in the process, drained
// as part of this engine's.
// A program that only imports GrandCentral still contains the toolchain's library. The Concurrency
// runtime sends the main actor's jobs there, and Foundation the operations of OperationQueue.main.
// That queue is bound to the main thread and waits for a run loop, which in dispatchMain() is this
// engine: the library's descriptor becomes readable, and an item of the own main queue drains it.
// The toolchain's library does not work in a forked child, so its queue is not served there.
import CGrandCentralLinux

final class ForeignMainQueue: ReadinessReceiver, ResourceRetry {
  private let main: MainQueue
  private let descriptor: Int32
  private let drain: @convention(c) (UnsafeMutableRawPointer?) -> Void
  private let poller: Poller

  private init(
    descriptor: Int32, drain: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    main: MainQueue, poller: Poller
  ) {
    (self.descriptor, self.drain) = (descriptor, drain)
    (self.main, self.poller) = (main, poller)
  }

  /// Drains the other library's main queue, if there is one, on `main` from now on. Call on the
  /// main thread, once, before it begins to drain `main` for ever.
  static func join(_ main: MainQueue) {
    var foreign = gc_foreign_main_queue()
    let own = Unmanaged.passUnretained(DispatchQueue.global()).toOpaque()
    guard gc_foreign_main_queue_find(own, &foreign), let drain = foreign.drain else { return }
    let poller = Reactor.shared.poller
    let joined = ForeignMainQueue(
      descriptor: foreign.descriptor, drain: drain, main: main, poller: poller)
    if let refusal = joined.register() { poller.lack(joined, error: refusal) }
  }

  func tryAgain(on thread: ThreadContext) -> Bool { register() == nil }

  /// Registers the descriptor for the rest of the process; the registration retains this object.
  /// Returns an errno if the system refuses.
  private func register() -> Int32? {
    let set = poller.prepare()
    if set < 0 { return -set }
    // By edges, so that the descriptor need not be read: it is the other library's. One that is
    // readable already counts as an edge.
    switch poller.register(self, for: descriptor, .readable, .edge) {
    case .success: return nil
    case .failure(let refusal): return refusal.number
    }
  }

  /// The number may be the program's by now.
  func descriptorWasClosed() -> (any ResourceRetry)? { nil }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    main.async { [drain] in drain(nil) }
  }
}
