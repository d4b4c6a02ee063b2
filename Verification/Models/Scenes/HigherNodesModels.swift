// Room: Models/HigherNodes. Nodes that leave the queue of a worker which does not run them, beside
// one that runs a lower class.

extension Catalogue {
  static var higherNodes: [EngineModel] {
    [
      EngineModel("pool: nodes left by a worker that steps back are seen by a last check") {
        scene in
        let (pool, job) = (Pool.small(width: 2, threads: 3), Job())
        let workers = pool.makeWorkers(3, searching: 1)
        pool.enter(.default, workers[1])
        pool.enter(.background, workers[2])
        workers[1].items.put(job.node(), band: .default)
        // A taker has left the bit.
        pool.markWaiting(.items)
        scene.thread("worker with a node") {
          // If the other one parks first, it stays active, and runs the node.
          if !pool.stepBack(workers[1], pool.begin(workers[1])) { _ = workers[1].items.take() }
        }
        scene.thread("searcher") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      }
    ]
  }

  static var higherNodesMutants: [Mutant] {
    let look = "pool: nodes left by a worker that steps back are seen by a last check"
    return [
      Mutant(
        "nodes left by a worker that steps back wake no worker", in: "Pool+Submit.swift",
        at: "wakeIfNeeded(seeing: state.load(", after: "func wakeIfNeeded()", .returns(1 << 16),
        foundBy: look),
      Mutant(
        "nodes left by a worker that steps back are not published in order", in: "Injector.swift",
        at: "places.store(", after: "func putFirst", .dropsSequential,
        foundBy: look,
        isWeak: true),
    ]
  }
}
