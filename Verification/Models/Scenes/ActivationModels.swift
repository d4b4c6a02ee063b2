// Room: Models/Activations. Activation of a source beside events and its cancellation, and handlers
// that are set at that time.

extension Catalogue {
  static var activations: [EngineModel] {
    [
      EngineModel("source: events before and during activation are delivered") { scene in
        let scenery = ActivationScene()
        scenery.handle()
        scenery.source.add(data: 1)
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("adds") { scenery.source.add(data: 2) }
        scene.finally { scenery.expectNotified(3) }
      },
      EngineModel("source: the first resume races with an event") { scene in
        let scenery = ActivationScene()
        scenery.handle()
        scene.thread("resumes") { scenery.source.resume() }
        scene.thread("adds") { scenery.source.add(data: 2) }
        scene.finally { scenery.expectNotified(2) }
      },
      EngineModel("source: no event runs before its registration handler") { scene in
        let scenery = ActivationScene()
        scenery.handle(afterRegistration: true)
        scenery.setRegistrationHandler()
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.finally {
          scenery.expectNotified(1)
          scenery.expectRegisteredOnce()
        }
      },
      EngineModel("source: a registration handler set during activation runs once") {
        scene in
        let scenery = ActivationScene()
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("sets") { scenery.setRegistrationHandler() }
        scene.finally { scenery.expectRegisteredOnce() }
      },
      EngineModel("source: an event handler set late receives earlier events") { scene in
        let scenery = ActivationScene()
        scenery.source.activate()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("sets") { scenery.handle() }
        scene.finally { scenery.expectNotified(1) }
      },
      EngineModel("source: an event handler set during activation receives earlier events") {
        scene in
        let scenery = ActivationScene()
        scenery.source.add(data: 1)
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("sets") { scenery.handle() }
        scene.finally { scenery.expectNotified(1) }
      },
      EngineModel("source: activation races with cancellation", reach: .exhaustedStrong) { scene in
        let scenery = ActivationScene()
        scenery.handle()
        scenery.setCancelHandler()
        scenery.source.add(data: 1)
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectCancelledOnce() }
      },
      EngineModel(
        "source: activation with a registration handler races with cancellation",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = ActivationScene()
        scenery.handle(afterRegistration: true)
        scenery.setRegistrationHandler()
        scenery.setCancelHandler()
        scene.thread("activates") { scenery.source.activate() }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.finally { scenery.expectCancelledOnce() }
      },
    ]
  }

  static var activationMutants: [Mutant] {
    let file = "DispatchSource.swift"
    let handlers = "DispatchSource+Handlers.swift"
    let during = "source: events before and during activation are delivered"
    let first = "source: the first resume races with an event"
    let cancelled = "source: activation races with cancellation"
    return [
      Mutant(
        "events before activation are lost", in: file,
        at: "sourceState.transition({ $0.starting()", .splits, foundBy: first),
      Mutant(
        "a source is never activated", in: file,
        at: "sourceState.transition({ $0.starting()", .skips, foundBy: during),
      Mutant(
        "an event is marked with a load and a store", in: file,
        at: "sourceState.transition({ $0.signalled()", .splits, foundBy: first),
      Mutant(
        "a cancellation is not recorded", in: file, at: "sourceState.transition({ $0.cancelling()",
        .skips, foundBy: cancelled),
      Mutant(
        "a thread that sets a handler late misses the activation", in: handlers,
        at: "sourceState.load(ordering: .acquiring).isStarted", .returns(0),
        foundBy: "source: an event handler set late receives earlier events"),
      Mutant(
        "a registration handler sets no flag", in: handlers,
        at: "sourceState.transition({ $0.registering()",
        .clears(bits: UInt64(SourceState.registers)),
        foundBy: "source: a registration handler set during activation runs once"),
      Mutant(
        "the registering thread does not check for cancellation", in: file,
        at: "sourceState.load(ordering: .acquiring).isCancelled", .returns(0),
        foundBy: cancelled),
    ]
  }
}

/// A source of user data that records whether it is monitored, as the kernel's sources do.
private final class WatchingSource: MergingSource, @unchecked Sendable {
  @Cell private(set) var isWatching = false

  override func startMonitoring() { lock.withLock { isWatching = true } }
  override func stopMonitoring() { lock.withLock { isWatching = false } }

  override func mergeData(_ data: UInt, as asked: DataMerge) {
    pending.wrappingAdd(UInt64(data), ordering: .releasing)
    signal(from: currentThread())
  }
}

private final class ActivationScene: @unchecked Sendable {
  let source = WatchingSource(queue: SpawningRoot())
  private let sum = Plain()
  private let registered = Plain()
  private let cancelled = Plain()

  func handle(afterRegistration: Bool = false) {
    let (sum, registered, cancelled) = (sum, registered, cancelled)
    source.setEventHandler { [unowned source] in
      Checker.expect(cancelled.value == 0, "an event after the cancellation")
      if afterRegistration {
        Checker.expect(registered.value == 1, "an event before the registration handler")
      }
      sum.value += Int(source.data)
    }
  }

  func setRegistrationHandler() {
    let (registered, cancelled) = (registered, cancelled)
    source.setRegistrationHandler {
      Checker.expect(cancelled.value == 0, "a registration after the cancellation")
      registered.value += 1
    }
  }

  func setCancelHandler() {
    let cancelled = cancelled
    source.setCancelHandler { cancelled.value += 1 }
  }

  func expectNotified(_ expected: Int) {
    Checker.expect(sum.value == expected, "\(expected) was added, \(sum.value) notified")
    Checker.expect(source.isWatching, "it does not watch")
  }

  func expectRegisteredOnce() {
    Checker.expect(
      registered.value == 1, "the registration handler ran \(registered.value) times")
  }

  func expectCancelledOnce() {
    Checker.expect(cancelled.value == 1, "the cancel handler ran \(cancelled.value) times")
    Checker.expect(!source.isWatching, "a cancelled source watches")
  }
}
