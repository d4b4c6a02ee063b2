// Room: Models/EventSources. Timer sources and read sources, from the kernel to their handlers.
// Invariant: a source handles each event of its last schedule or registration once, none early, and
// none after its cancellation; a source that has ended is registered nowhere.
// Protocol: Sources/SourceState, Sources/Timer/TimerSetting, Reactor/SharedDescriptor.

extension Catalogue {
  static var eventSources: [EngineModel] {
    [
      EngineModel(
        "timer source: scheduling races with activation", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        stage.events.addClock(scene)
        scene.thread("activates") { timer.activate() }
        scene.thread("schedules") { timer.schedule(deadline: .now()) }
        stage.finally(scene) { stage.expectEvents(1...1) }
      },
      EngineModel(
        "timer source: rescheduling races with firing", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: .now())
        timer.activate()
        stage.events.addClock(scene)
        scene.thread("schedules") {
          timer.schedule(deadline: DispatchTime(uptimeNanoseconds: stage.events.begin + 5000))
        }
        stage.finally(scene) { stage.expectEvents(1...2) }
      },
      EngineModel(
        "timer source: a postponed timer fires once, by its new time",
        reach: .bounded(preemptions: 3), adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: stage.time(1000))
        timer.activate()
        scene.thread("postpones") {
          // Before the first time comes: time passes only while all threads sleep.
          for time in [3000, 5000, 4000] { timer.schedule(deadline: stage.time(UInt64(time))) }
        }
        stage.events.addClock(scene)
        stage.finally(scene) {
          stage.expectEvents(1...1)
          stage.expectLastEvent(from: 4000, before: 5000)
        }
      },
      EngineModel(
        "timer source: postponing races with firing", reach: .bounded(preemptions: 2),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: .now())
        timer.activate()
        stage.events.addClock(scene)
        for number in 1...2 {
          scene.thread("postpones \(number)") {
            timer.schedule(deadline: stage.time(UInt64(number) * 5000))
          }
        }
        stage.finally(scene) {
          stage.expectEvents(1...2)
          stage.expectLastEvent(from: 5000, before: .max)
        }
      },
      EngineModel(
        "timer source: a timer is moved to an earlier time", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: stage.time(5000))
        timer.activate()
        stage.events.addClock(scene)
        scene.thread("moves") {
          timer.schedule(deadline: stage.time(9000))
          timer.schedule(deadline: stage.time(1000))
        }
        stage.finally(scene) {
          stage.expectEvents(1...1)
          stage.expectLastEvent(from: 1000, before: 5000)
        }
      },
      EngineModel(
        "timer source: cancellation races with an early expiry", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: .now())
        timer.activate()
        scene.thread("cancels") {
          timer.schedule(deadline: stage.time(5000), repeating: .milliseconds(100))
          timer.cancel()
        }
        stage.finally(scene) {
          stage.expectEvents(0...1)
          stage.expectCancelledOnce()
          let held = stage.events.timers.change { $0.byLatest.count }
          Checker.expect(held == 0, "a cancelled timer is armed")
        }
      },
      EngineModel(
        "timer source: a timer changes shards while it fires", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        // The first source's home is the second shard.
        let stage = EventSourceScene(scene, timerShards: 3)
        let timer = stage.timer()
        timer.schedule(deadline: .now())
        timer.activate()
        stage.events.addClock(scene)
        scene.thread("schedules") {
          timer.schedule(
            deadline: DispatchTime(uptimeNanoseconds: stage.events.begin + 5000),
            leeway: .nanoseconds(100))
          timer.schedule(
            deadline: DispatchTime(uptimeNanoseconds: stage.events.begin + 6000))
        }
        stage.finally(scene) { stage.expectEvents(1...2) }
      },
      EngineModel(
        "timer source: cancellation races with firing", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        let timer = stage.timer()
        timer.schedule(deadline: .now(), repeating: .milliseconds(100))
        timer.activate()
        scene.thread("cancels") { timer.cancel() }
        stage.finally(scene) {
          stage.expectEvents(0...1)
          stage.expectCancelledOnce()
        }
      },
      EngineModel(
        "timer source: the last release races with firing", reach: .bounded(preemptions: 3),
        adjust: Allow.time
      ) { scene in
        let stage = EventSourceScene(scene)
        var timer: (any DispatchSourceTimer)? = stage.timer()
        timer?.schedule(deadline: .now())
        timer?.activate()
        stage.letGo()
        let spare = stage.events.timers.change {
          $0.makeEntry(for: Runtime.shared.main)
        }
        scene.thread("lets go") {
          // Takes the lock, so that the release is ordered: see TimerModels.
          stage.events.timers.change { $0.disarm(spare) }
          timer = nil
        }
        stage.finally(scene) { stage.expectEvents(0...1) }
      },
      EngineModel(
        "read source: activation races with an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = EventSourceScene(scene)
        let source = stage.reader()
        scene.thread("activates") { source.activate() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "read source: setting the handler races with an event", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = EventSourceScene(scene)
        let source = stage.reader(setsHandler: false)
        ModelKernel.becomeReady(ModelKernel.first, .readable)
        scene.thread("activates") { source.activate() }
        scene.thread("sets") { stage.setReadHandler(of: source, takesAtOnce: false) }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "read source: the handler runs again while data is unread",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = EventSourceScene(scene)
        let source = stage.reader(takesAtOnce: false)
        source.activate()
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) {
          stage.expectEvents(2...2)
          stage.expectNothingUnread()
        }
      },
      EngineModel(
        "read source: cancellation races with an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = EventSourceScene(scene)
        let source = stage.reader()
        source.activate()
        scene.thread("cancels") { source.cancel() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) { stage.expectCancelledOnce() }
      },
      EngineModel(
        "read source: cancellation races with activation", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = EventSourceScene(scene)
        let source = stage.reader()
        scene.thread("cancels") { source.cancel() }
        scene.thread("activates") { source.activate() }
        stage.finally(scene) { stage.expectCancelledOnce() }
      },
      EngineModel(
        "read source: the last release races with an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = EventSourceScene(scene)
        var source: (any DispatchSourceRead)? = stage.reader()
        source?.activate()
        stage.letGo()
        let spare = DescriptorEntry(.read, of: 7, queueLabel: "")
        scene.thread("lets go") {
          // Takes the lock, so that the release is ordered: see TimerModels.
          stage.events.shared(ModelKernel.first).leave(spare)
          source = nil
        }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) {
          stage.expectNoListener()
        }
      },
    ]
  }

  static var eventSourceMutants: [Mutant] {
    let unread = "read source: the handler runs again while data is unread"
    return [
      Mutant(
        "a read source cancelled during activation stays registered", in: "DispatchSource.swift",
        at: "sourceState.load(ordering: .acquiring).isCancelled", .returns(0),
        foundBy: "read source: cancellation races with activation"),
      Mutant(
        "unread data is not re-armed", in: "SharedDescriptor+Requests.swift",
        at: ": ReadinessSet.change(set, descriptor", .skips, foundBy: unread),
      Mutant(
        "a timer that is scheduled is not armed", in: "TimerSource.swift",
        at: "@Cell private var isMonitoring", .returns(0),
        foundBy: "timer source: scheduling races with activation"),
      Mutant(
        "a stopped timer is taken to be monitored", in: "TimerSource.swift",
        at: "@Cell private var isMonitoring", .skips,
        foundBy: "timer source: scheduling races with activation"),
      Mutant(
        "an earlier time counts as a later one", in: "TimerSetting.swift",
        at: "@Cell private var held =", .returns(0),
        foundBy: "timer source: a timer is moved to an earlier time"),
      Mutant(
        "a time in the heaps counts as the one that is wanted", in: "TimerSetting.swift",
        at: "@Cell private(set) var target", .returns(1),
        foundBy: "timer source: a postponed timer fires once, by its new time"),
      Mutant(
        "a source's lock does not exclude", in: "Lock.swift",
        at: "let (won, _) = word.compareExchange(", after: "public borrowing func lock()",
        .isBlind, foundBy: "timer source: postponing races with firing"),
    ]
  }
}

private final class EventSourceScene: @unchecked Sendable {
  let events: EventScene
  private let queue = SpawningRoot()
  private let handled = Plain()
  private let cancelled = Plain()
  private let lastEvent = Plain()
  private var source: (any DispatchSourceProtocol)?

  init(_ scene: Scene, timerShards: Int = 1) {
    events = EventScene(scene, timerShards: timerShards)
    for shard in events.reactor.timerShards {
      _ = shard.monotonic.tryAgain(on: currentThread())
    }
    ModelKernel.open(ModelKernel.first)
  }

  func timer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    source = timer
    let lastEvent = lastEvent
    setHandlers(of: timer) { _ in lastEvent.value = Int(Clock.monotonicNanoseconds()) }
    return timer
  }

  /// The time `after` nanoseconds after the scene began.
  func time(_ after: UInt64) -> DispatchTime {
    DispatchTime(uptimeNanoseconds: events.begin + after)
  }

  func reader(takesAtOnce: Bool = true, setsHandler: Bool = true) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: ModelKernel.first, queue: queue)
    self.source = source
    if setsHandler { setReadHandler(of: source, takesAtOnce: takesAtOnce) }
    return source
  }

  func setReadHandler(of source: any DispatchSourceRead, takesAtOnce: Bool = true) {
    setHandlers(of: source) { count in
      if takesAtOnce || count == 2 { ModelKernel.take(ModelKernel.first, .readable) }
    }
  }

  private func setHandlers(
    of source: any DispatchSourceProtocol, _ body: @escaping (Int) -> Void
  ) {
    let (handled, cancelled) = (handled, cancelled)
    source.setEventHandler {
      Checker.expect(cancelled.value == 0, "an event after the cancellation")
      handled.value += 1
      body(handled.value)
    }
    source.setCancelHandler { cancelled.value += 1 }
  }

  /// Releases the scene's reference to the source.
  func letGo() { source = nil }

  func expectEvents(_ range: ClosedRange<Int>) {
    Checker.expect(range.contains(handled.value), "the event handler ran \(handled.value) times")
  }

  /// Expects the last event of a timer between two times, in nanoseconds after the scene began.
  func expectLastEvent(from first: Int, before end: Int) {
    let time = lastEvent.value - Int(events.begin)
    Checker.expect(first <= time && time < end, "the last event came after \(time) ns")
  }

  func expectNothingUnread() {
    Checker.expect(
      ModelKernel.readiness(ModelKernel.first).isEmpty, "unread data was not reported")
  }

  func expectCancelledOnce() {
    Checker.expect(cancelled.value == 1, "the cancel handler ran \(cancelled.value) times")
    expectNoListener()
  }

  func expectNoListener() {
    Checker.expect(events.shared(ModelKernel.first).entries.isEmpty, "a source still listens")
    Checker.expect(!ModelKernel.isWatched(ModelKernel.first), "it is registered without a listener")
  }

  func finally(_ scene: Scene, _ verdict: @escaping () -> Void) {
    scene.finally {
      verdict()
      self.source = nil
      let table = self.events.reactor.descriptors
      table.forget(table.shared(ModelKernel.first))
      self.events.end()
    }
  }
}
