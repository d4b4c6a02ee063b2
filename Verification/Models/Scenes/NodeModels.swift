// Room: Models/Nodes. NodeCache and NodeDepot: chains of free nodes move between the threads'
// lists.
import Glibc

/// The depot of this execution, and an account of all nodes in it and in the threads' lists.
private struct NodeAccount {
  /// Empties the depot, and the lists of all threads of the scene except `numbers`.
  init(withChain numbers: Set<Int>) {
    NodeCache.depot.forget()
    for number in 1..<ModelThreads.count where !numbers.contains(number) {
      ModelThreads.context(number).pointee.nodes = nil
      ModelThreads.context(number).pointee.node_count = 0
    }
  }

  /// Fails unless each node is in one list and each list has its recorded length. `more`: nodes in
  /// use.
  func expectSound(more: [WorkNode] = []) {
    var seen = Set(more.map(\.raw))
    Checker.expect(seen.count == more.count, "a node was given out twice")
    func count(_ first: UnsafeMutableRawPointer?) -> Int {
      var count = 0
      var next = first.map(WorkNode.init)
      while let node = next {
        count += 1
        Checker.expect(seen.insert(node.raw).inserted, "a node is in two places")
        next = node.next
      }
      return count
    }
    for number in 0..<ModelThreads.count {
      let thread = ModelThreads.context(number).pointee
      Checker.expect(count(thread.nodes) == thread.node_count, "a list is not as long as it says")
    }
    NodeCache.depot.forget { node in
      Checker.expect(seen.insert(node.raw).inserted, "a node is in two places")
    }
    freeRegions(seen)
  }

  /// Frees the regions of this execution. The engine never unmaps regions.
  private func freeRegions(_ nodes: Set<UnsafeMutableRawPointer>) {
    let own = nodes.filter { !ModelThreads.owns($0) }
    Checker.expect(own.count % NodeCache.chainLength == 0, "nodes of a page are lost")
    let regions = Set(own.map { NodeRegion(of: PageNodes(WorkNode($0))).start })
    for start in regions { munmap(start, NodeRegion.bytes) }
  }
}

extension Catalogue {
  static var nodes: [EngineModel] {
    [
      EngineModel("nodes: one thread spills nodes, another takes them") { scene in
        let account = NodeAccount(withChain: [1])
        let taken = Taken()
        scene.thread("giver") {
          let thread = currentThread()
          let node = NodeCache.take(thread)
          node.entry = { _, _ in }
          NodeCache.put(node, thread)
          NodeCache.spill(thread)
        }
        scene.thread("taker") {
          let thread = currentThread()
          for _ in 0..<2 {
            let node = NodeCache.take(thread)
            node.entry = { _, _ in }
            taken.nodes.append(node)
          }
        }
        scene.finally { account.expectSound(more: taken.nodes) }
      },
      EngineModel("nodes: two threads find an empty depot") { scene in
        let account = NodeAccount(withChain: [])
        let taken = [Taken(), Taken()]
        for number in 0..<2 {
          scene.thread("taker \(number)") {
            let node = NodeCache.take(currentThread())
            node.entry = { _, _ in }
            taken[number].nodes.append(node)
          }
        }
        scene.finally { account.expectSound(more: taken[0].nodes + taken[1].nodes) }
      },
      EngineModel("nodes: memory is given back beside a thread that takes nodes") { scene in
        let account = NodeAccount(withChain: [])
        let taken = Taken()
        scene.thread("user") {
          let thread = currentThread()
          for _ in 0..<2 {
            let node = NodeCache.take(thread)
            node.entry = { _, _ in }
            NodeCache.put(node, thread)
            // Fills the page.
            NodeCache.drain(thread)
          }
          let node = NodeCache.take(thread)
          node.entry = { _, _ in }
          taken.nodes.append(node)
        }
        scene.thread("trimmer") { NodeCache.depot.trim() }
        scene.finally { account.expectSound(more: taken.nodes) }
      },
      EngineModel("nodes: an ending thread returns all nodes") { scene in
        let account = NodeAccount(withChain: [1, 2])
        let taken = Taken()
        for name in ["first", "second"] {
          scene.thread(name) {
            let thread = currentThread()
            let node = NodeCache.take(thread)
            node.entry = { _, _ in }
            NodeCache.put(node, thread)
            NodeCache.drain(thread)
          }
        }
        scene.thread("taker") {
          let node = NodeCache.take(currentThread())
          node.entry = { _, _ in }
          taken.nodes.append(node)
        }
        scene.finally { account.expectSound(more: taken.nodes) }
      },
    ]
  }

  static var nodeMutants: [Mutant] {
    let spill = "nodes: one thread spills nodes, another takes them"
    return [
      Mutant(
        "the depot's lock does not release", in: "Lock.swift", at: "word.exchange(0",
        .dropsRelease,
        foundBy: spill),
      Mutant(
        "the depot's lock does not acquire", in: "Lock.swift", at: "let (won, _)",
        after: "func lock()", .dropsAcquire, foundBy: spill),
      Mutant(
        "a sleeper on the depot's lock does not acquire", in: "Lock.swift",
        at: "word.exchange(2", .dropsAcquire, foundBy: "nodes: two threads find an empty depot"),
      Mutant(
        "the depot's lock wakes no thread", in: "Lock.swift", at: "func wake()", .skips,
        foundBy: "nodes: two threads find an empty depot"),
      Mutant(
        "two threads are in the depot", in: "Lock.swift", at: "let (won, _)", after: "func lock()",
        .splits,
        foundBy: "nodes: two threads find an empty depot"),
    ]
  }
}

/// The nodes that a thread holds at the end.
private final class Taken {
  var nodes: [WorkNode] = []
}
