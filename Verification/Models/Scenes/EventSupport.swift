// Room: Models/EventSupport. The events of one execution: a poller whose threads are the model's,
// timers, and listeners.

/// The events that the engine uses as the process's.
enum ModelEvents {
  nonisolated(unsafe) static var known: Reactor?

  static var current: Reactor {
    guard let known else { Checker.fail("this model has no events") }
    return known
  }
}

final class EventScene: @unchecked Sendable {
  let pool: Pool
  let reactor: Reactor
  var poller: Poller { reactor.poller }
  var timers: Timers { reactor.monotonic }
  let begin = Checker.nanoseconds

  /// Makes `pollers` threads of the poller, which wait in the set and never end. Without a `pool`
  /// no CPU is free for them, so they notify the listeners without joining the pool.
  init(_ scene: Scene, pollers: Int = 1, pool given: Pool? = nil, timerShards: Int = 1) {
    pool = given ?? Pool.small()
    if given == nil { pool.width.store(0, ordering: .relaxed) }
    reactor = Reactor(pool: pool, shards: timerShards)
    ModelEvents.known = reactor
    _ = poller.prepareForModel()
    for number in 0..<pollers {
      let externalWorker = pool.makeExternalWorker(named: "")
      // The threads never end, so a counted reference on their stacks would leak.
      let (poller, record) = (
        Unmanaged.passUnretained(poller), Unmanaged.passUnretained(externalWorker)
      )
      let own = Unmanaged.passUnretained(number == 0 ? self.poller.first : self.poller.second)
      scene.thread("poller \(number)", isDaemon: true) {
        record._withUnsafeGuaranteedRef { record in
          record.thread = currentThread()
          own._withUnsafeGuaranteedRef { own in
            poller._withUnsafeGuaranteedRef { $0.run(own, as: record) }
          }
        }
      }
    }
  }

  /// Adds a thread that sleeps until every timer of the first second is due. Needs `timePasses`.
  func addClock(_ scene: Scene) {
    let word = Atomic32()
    let end = begin + 1_000_000_000
    scene.thread("clock") {
      _ = futexWait(word.word, while: 0, until: .monotonic(nanoseconds: end))
    }
  }

  /// Ends a verdict: removes all registrations. The poller's threads remain asleep and find
  /// nothing.
  func end() {
    ModelKernel.reset()
    poller.lacking = []
    for slot in 0..<4 {
      for generation in 0..<4 {
        poller.unregister(Registration(slot: slot, generation: UInt32(generation)))
      }
    }
    ModelEvents.known = nil
  }

  func shared(_ descriptor: Int32) -> SharedDescriptor { reactor.descriptors.shared(descriptor) }

  /// Joins the descriptor, as a source does.
  func join(_ entry: DescriptorEntry, _ descriptor: Int32) -> SharedDescriptor {
    while true {
      let candidate = shared(descriptor)
      if candidate.join(entry, on: currentThread()) { return candidate }
      reactor.descriptors.forget(candidate)
    }
  }
}

extension Poller {
  /// Makes the set. All threads count as made, so the poller makes none.
  fileprivate func prepareForModel() -> Int32 {
    while state.transition({ $0.starting() }) != nil {}
    return prepare()
  }
}

/// A recipient that counts its notifications.
final class Listener: DispatchQueue, @unchecked Sendable {
  let heard = Tally()
  /// Runs at each notification, on the notifying thread.
  var onNotified: (() -> Void)?

  init() { super.init(root: "model.listener", kind: .root, qos: .unspecified) }

  override func eventCame(on thread: ThreadContext) {
    heard.one()
    onNotified?()
  }

  func expectHeard(_ count: Int, _ name: String) {
    Checker.expect(heard.count == count, "\(name) heard \(heard.count) times, not \(count)")
  }
}

extension Allow {
  /// Lets a deadline end a sleep when no thread can move.
  static var time: (inout Options) -> Void { { $0.timePasses = true } }
  static var timeAndRefusal: (inout Options) -> Void {
    {
      $0.timePasses = true
      $0.refusals = 1
    }
  }
}

/// A reader that leaves the descriptor in its deinit, as a source does.
final class MortalReader: DispatchQueue, @unchecked Sendable {
  private let entry = DescriptorEntry(.read, of: 7, queueLabel: "")
  private let events: EventScene
  private var shared: SharedDescriptor?
  /// Each notification uses this atomic, so a notification after the deinit is an error.
  private let heard = Tally()

  init(_ events: EventScene) {
    self.events = events
    super.init(root: "model.mortal", kind: .root, qos: .unspecified)
    entry.listener = Unmanaged.passUnretained(self)
  }

  deinit { shared?.leave(entry) }

  func join() { shared = events.join(entry, ModelKernel.first) }

  override func eventCame(on thread: ThreadContext) { heard.one() }
}
