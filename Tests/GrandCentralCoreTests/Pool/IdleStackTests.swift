import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The idle stack") struct IdleStackTests {
  /// Workers without threads.
  private static func workers(_ count: Int) -> [Worker] {
    let pool = Pool.own(width: 1, threads: count, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    return (0..<count).map { _ in pool.makeWorker() }
  }

  private func drain(_ stack: inout IdleStack) -> [Int] {
    var indices: [Int] = []
    while stack.count > 0 { indices.append(stack.pop().index) }
    return indices
  }

  @Test func `returns the worker that was pushed last first, and one that was inserted last last`()
  {
    let workers = Self.workers(4)
    var stack = IdleStack(capacity: 4)
    defer { stack.deallocate() }
    stack.push(workers[0])
    stack.push(workers[1])
    stack.insertLast(workers[2])
    stack.push(workers[3])
    #expect(drain(&stack) == [3, 1, 0, 2])
  }

  @Test(arguments: 0..<4) func `loses one worker and keeps the order of the others`(index: Int) {
    let workers = Self.workers(4)
    var stack = IdleStack(capacity: 4)
    defer { stack.deallocate() }
    for worker in workers { stack.push(worker) }
    stack.remove(workers[index])
    #expect(stack.count == 3)
    // It is not there any more.
    stack.remove(workers[index])
    #expect(drain(&stack) == [3, 2, 1, 0].filter { $0 != index })
  }
}

@Suite("A worker that searches") struct SearchTests {
  private let pool = Pool.own(width: 1, threads: 1, spawn: { _, _, _ in EAGAIN }, isWatched: false)
  private let worker: Worker
  private let block = NodeBlock(3)

  init() {
    worker = pool.makeWorker()
    worker.status.store(.running, ordering: .relaxed)
    worker.thread = currentThread()
    pool.state.store(PoolState(rawValue: 1 << 48 | 1), ordering: .relaxed)
  }

  @Test func `sees a node in an injector once its bit is set, and none where the bit is late`() {
    let key = InjectorKey(kind: .items, band: .default)
    pool.withInjector(key) { $0.push(block.nodes[0]) }
    // The submitter is between the push and the bit, and wakes a worker later.
    #expect(!pool.hasWork() && pool.take(for: worker) == nil)
    pool.markWaiting(key)
    #expect(pool.hasWork())
    #expect(pool.take(for: worker) == block.nodes[0])
    #expect(
      pool.injectorHints.load(ordering: .relaxed) == InjectorSet(key).rawValue && !pool.hasWork())
    #expect(pool.take(for: worker) == nil)
    #expect(pool.injectorHints.load(ordering: .relaxed) == 0)
    pool.stopSearching(worker)
  }

  @Test func `expects no second node only after a long sleep, and until it has found one`() {
    worker.slept(nanoseconds: 100_000, until: 1)
    #expect(!worker.isWokenForOne)
    worker.slept(nanoseconds: 20_000_000, until: 2)
    #expect(worker.isWokenForOne)
    let key = InjectorKey(kind: .items, band: .default)
    for number in 0..<3 {
      pool.withInjector(key) { $0.push(block.nodes[number]) }
      pool.markWaiting(key)
    }
    #expect(pool.take(for: worker) == block.nodes[0])
    #expect(worker.isWokenForOne)
    #expect(pool.take(for: worker) == block.nodes[1])
    #expect(pool.take(for: worker) == block.nodes[2])
    #expect(!worker.isWokenForOne)
    pool.stopSearching(worker)
  }
}
