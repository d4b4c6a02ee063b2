// Room: Models/Lanes. Concurrent queues: readers in parallel, barriers alone, and the width.
// Readers read plain memory that barriers write, so a barrier that overlaps another item, or is not
// ordered with it, is a data race. Ordinary tests show that readers do overlap.

final class ConcurrentScene: @unchecked Sendable {
  let queue: DispatchQueue
  let log = Plain()
  private let submitted = Tally()
  private let ran = Tally()

  init(_ root: DispatchQueue, attributes more: DispatchQueue.Attributes = []) {
    queue = DispatchQueue(
      label: "concurrent", attributes: more.union(.concurrent), target: root)
  }

  func asyncRead() {
    submitted.one()
    queue.async { self.read() }
  }

  /// Submits an item that reads by sync() on the queue that it runs on.
  func asyncReadInside() {
    submitted.one()
    queue.async { self.queue.sync { self.read() } }
  }

  func asyncWrite() {
    submitted.one()
    queue.async(flags: .barrier) { self.write() }
  }

  /// Submits a write that is not a barrier, for queues with a width of one.
  func asyncUnguardedWrite() {
    submitted.one()
    queue.async { self.write() }
  }

  func syncUnguardedWrite() {
    submitted.one()
    queue.sync { write() }
  }

  func syncRead() {
    submitted.one()
    queue.sync { read() }
  }

  /// A reader that takes permits for helpers, and gives them back.
  func syncLoop(helpers: Int) {
    submitted.one()
    queue.sync { queue.withPermits(for: helpers, on: currentThread()) { _ in read() } }
  }

  func syncWrite() {
    submitted.one()
    queue.sync(flags: .barrier) { write() }
  }

  private func read() {
    _ = log.value
    ran.one()
  }

  private func write() {
    log.value += 1
    ran.one()
  }

  func expect() {
    Checker.expect(
      ran.count == submitted.count, "\(submitted.count) items, but \(ran.count) ran")
    ModelThreads.expectAllNodesBack()
  }
}

extension Catalogue {
  static var barriers: [EngineModel] {
    [
      EngineModel("barrier: an item and a barrier") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.asyncRead() }
        scene.thread("writes") { concurrent.asyncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: two barriers") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("first") { concurrent.asyncWrite() }
        scene.thread("second") { concurrent.asyncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: a barrier, an item and a barrier, in this order") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("submits") {
          concurrent.asyncWrite()
          concurrent.asyncRead()
          concurrent.asyncWrite()
        }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: two items, then a barrier", reach: .exhaustedStrong) { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") {
          concurrent.asyncRead()
          concurrent.asyncRead()
        }
        scene.thread("writes") { concurrent.asyncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: sync() readers and a writer", reach: .exhaustedStrong) { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.syncRead() }
        scene.thread("reads too") { concurrent.syncRead() }
        scene.thread("writes") { concurrent.syncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: a sync() reader and a writer") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.syncRead() }
        scene.thread("writes") { concurrent.syncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: a sync() reader and an asynchronous writer") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.syncRead() }
        scene.thread("writes") { concurrent.asyncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: an item and a sync() writer") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.asyncRead() }
        scene.thread("writes") { concurrent.syncWrite() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: items, a barrier and a sync() reader", reach: .bounded(preemptions: 3))
      {
        scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("reads") { concurrent.syncRead() }
        scene.thread("writes") { concurrent.asyncWrite() }
        scene.thread("reads too") { concurrent.asyncRead() }
        scene.finally { concurrent.expect() }
      },
      EngineModel("barrier: it excludes items that a target lane admits", reach: .exhaustedStrong) {
        scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        let below = DispatchQueue(label: "serial", target: concurrent.queue)
        let log = concurrent.log
        scene.thread("below") { below.async { _ = log.value } }
        scene.thread("writes") { concurrent.asyncWrite() }
        scene.finally { concurrent.expect() }
      },
    ]
  }

  static var barrierMutants: [Mutant] {
    [
      Mutant(
        "the last reader continues without the lane's lock", in: "Lane+Sync.swift",
        at: "state.change(.acquiringAndReleasing", after: "func leaveShared",
        .clears(bits: LaneState.locked),
        foundBy: "barrier: a barrier, an item and a barrier, in this order"),
      Mutant(
        "a reader leaves without releasing", in: "Lane+Sync.swift",
        at: "state.change(.acquiringAndReleasing", after: "func leaveShared",
        .dropsRelease, foundBy: "barrier: an item and a barrier"),
      Mutant(
        "a barrier does not check for active readers", in: "Lane+Drain.swift",
        at: "var isAlone: Bool { state.load", .returns(0),
        foundBy: "barrier: a barrier, an item and a barrier, in this order"),
      Mutant(
        "a barrier does not acquire from readers", in: "Lane+Drain.swift",
        at: "var isAlone: Bool { state.load", .dropsAcquire,
        foundBy: "barrier: a barrier, an item and a barrier, in this order", isWeak: true),
      Mutant(
        "readers are counted with a load and a store", in: "Lane+Sync.swift",
        at: "state.change(.acquiringAndReleasing", after: "func leaveShared", .isBlind,
        foundBy: "barrier: sync() readers and a writer"),
      Mutant(
        "a waiting barrier is forgotten", in: "Lane+Drain.swift",
        at: "let (won, now) = state.weakCompareExchange", after: "if next.isHeld && inside",
        .clears(bits: LaneState.batch),
        foundBy:
          "barrier: a barrier, an item and a barrier, in this order"),
    ]
  }
}
