// Room: Models/Lanes. Deadlock cycles: each one is found, also one that closes late, and nothing
// else is taken for one. Time passes only when no thread can move, so a cycle that is not found
// ends in a failure: a deadlock or a livelock.

extension Catalogue {
  static var deadlocks: [EngineModel] {
    [
      EngineModel("deadlock: two threads that wait for each other are reported") {
        $0.timePasses = true
        $0.findsLeaks = false
        $0.tolerates = { $0.contains("Deadlock: 2 threads wait for each other.") }
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        scene.thread("first") { first.sync { second.sync {} } }
        scene.thread("second") { second.sync { first.sync {} } }
      },
      EngineModel("deadlock: a reader and a writer that wait for each other are reported") {
        $0.timePasses = true
        $0.findsLeaks = false
        $0.tolerates = { $0.contains("Deadlock: 2 threads wait for each other.") }
      } _: { scene in
        let root = SpawningRoot()
        let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: root)
        let narrow = DispatchQueue(label: "narrow", target: root)
        scene.thread("reads") { wide.sync { narrow.sync {} } }
        scene.thread("writes") { narrow.sync { wide.sync(flags: .barrier) {} } }
      },
      EngineModel(
        "deadlock: a reader that was just admitted closes no cycle",
        reach: .bounded(preemptions: 2)
      ) {
        $0.timePasses = true
        $0.timeOuts = 1
      } _: { scene in
        let root = SpawningRoot()
        let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: root)
        let narrow = DispatchQueue(label: "narrow", target: root)
        let inside = Atomic32()
        scene.thread("reads") {
          wide.sync {
            wide.suspend()
            inside.word.store(1, ordering: .releasing)
            futexWake(inside.word)
            narrow.sync {}
          }
        }
        scene.thread("holds") { narrow.sync { wide.sync {} } }
        scene.thread("resumes") {
          while inside.word.load(ordering: .acquiring) == 0 {
            _ = futexWait(inside.word, while: 0)
          }
          // Queues behind the waiting holder: before it, the barrier would close a deadlock cycle.
          let isInLine = wide.state.load(ordering: .acquiring).pending != nil
          if isInLine { wide.async(flags: .barrier) {} }
          wide.resume()
        }
      },
      EngineModel("deadlock: nesting in the same order is no cycle") {
        $0.timePasses = true
        $0.timeOuts = 1
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        for _ in 0..<2 { scene.thread { first.sync { second.sync {} } } }
      },
      EngineModel(
        "deadlock: long waits in the same order close no cycle", reach: .bounded(preemptions: 2)
      ) {
        $0.timePasses = true
        $0.timeOuts = 3
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        for _ in 0..<2 { scene.thread { first.sync { second.sync {} } } }
      },
      EngineModel(
        "deadlock: closed by a resume() that lets a barrier come first",
        reach: .bounded(preemptions: 2), adjust: closesLate
      ) { scene in
        let late = LateCycle()
        let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: late.root)
        scene.thread("reads") { wide.sync { late.enterAndWait() } }
        scene.thread("holds") {
          late.hold {
            wide.suspend()
            wide.async(flags: .barrier) {}
            late.isSuspended.set()
            wide.sync {}
          }
        }
        scene.thread("resumes") { late.afterTheSearches { wide.resume() } }
      },
      EngineModel(
        "deadlock: closed by a resume() that sends a lane to a held target",
        reach: .bounded(preemptions: 2), adjust: closesLate
      ) { scene in
        let late = LateCycle()
        let below = DispatchQueue(label: "below", target: late.root)
        let upper = DispatchQueue(label: "upper", target: below)
        scene.thread("below") {
          below.sync {
            // Both threads of the cycle wait in line.
            late.enterAndWait { late.narrow.async {} }
          }
        }
        scene.thread("holds") {
          late.hold {
            upper.suspend()
            upper.async {}
            late.isSuspended.set()
            upper.sync {}
          }
        }
        scene.thread("resumes") { late.afterTheSearches { upper.resume() } }
      },
    ]
  }

  private static func closesLate(_ options: inout Options) {
    options.timePasses = true
    options.findsLeaks = false
    options.tolerates = { $0.contains("Deadlock: 2 threads wait for each other.") }
  }

  static var deadlockMutants: [Mutant] {
    let barrier = "deadlock: closed by a resume() that lets a barrier come first"
    let target = "deadlock: closed by a resume() that sends a lane to a held target"
    let graph = "WaitGraph.swift"
    return [
      Mutant(
        "threads in line do not wake to search", in: "Parker.swift",
        at: "futexWait(shared.parker, while: 2, until: deadline)", .oversleeps, foundBy: target),
      Mutant(
        "a search sees no owner", in: graph, at: "lane.owner.load", .returns(0), foundBy: target),
      Mutant(
        "a search sees no barrier", in: graph, at: "lane.state.load", .returns(0),
        foundBy: barrier),
    ]
  }
}

/// A cycle of two threads that a third closes after both have searched once.
private struct LateCycle {
  let root = SpawningRoot()
  let narrow: DispatchQueue
  let isInside = Flag()
  let isSuspended = Flag()
  private let isHeld = Flag()
  private let never = Atomic32()

  init() { narrow = DispatchQueue(label: "narrow", target: root) }

  /// In the other lane: waits for `narrow` when that is held, after `prepare`.
  func enterAndWait(_ prepare: () -> Void = {}) {
    isInside.set()
    isHeld.wait()
    prepare()
    narrow.sync {}
  }

  /// Runs `body` in `narrow`, when the other thread is inside the other lane.
  func hold(_ body: () -> Void) {
    narrow.sync {
      isHeld.set()
      isInside.wait()
      body()
    }
  }

  /// Runs `body` when both threads have searched, and sleep.
  func afterTheSearches(_ body: () -> Void) {
    isSuspended.wait()
    _ = futexWait(never.word, while: 0, until: .after(nanoseconds: 500_000_000))
    body()
  }
}

/// Is set once; other threads wait for that.
private struct Flag {
  private let value = Atomic32()

  func set() {
    value.word.store(1, ordering: .releasing)
    futexWake(value.word, count: .max)
  }

  func wait() {
    while value.word.load(ordering: .acquiring) == 0 { _ = futexWait(value.word, while: 0) }
  }
}
