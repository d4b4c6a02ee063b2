import CGrandCentralLinux
import GrandCentralPrimitives
import TestSupport
import Testing

@Suite("A lock") struct LockTests {
  @Test(arguments: [2, 4, 8])
  func `admits one thread at a time`(threads: Int) {
    let shared = SharedLock()
    let inside = Unguarded(0)
    let total = Unguarded(0)
    let rounds = stressed(20_000)
    let overlaps = Counter()
    let ended = onThreads(threads) { _ in
      for _ in 0..<rounds {
        shared.lock.withLock {
          inside.value += 1
          if inside.value != 1 { overlaps.add() }
          total.value += 1
          inside.value -= 1
        }
      }
    }
    #expect(ended)
    #expect(overlaps.value == 0)
    #expect(shared.lock.withLock { total.value } == threads * rounds)
  }

  @Test func `wakes sleepers after a long hold`() {
    let shared = SharedLock()
    let entered = Counter()
    let waiting = Log<UInt32>()
    shared.lock.lock()
    let threads = (0..<3).map { number in
      TestThread("waiter-\(number)") {
        waiting.append(gc_thread_id())
        shared.lock.withLock { _ = entered.add() }
      }
    }
    #expect(waiting.waitForCount(3))
    #expect(eventually { waiting.all.allSatisfy { isAsleep($0) } })
    #expect(entered.value == 0)
    shared.lock.unlock()
    #expect(threads.allSatisfy { $0.join() })
    #expect(entered.value == 3)
  }

  @Test func `returns what its body returns and throws what it throws`() {
    struct Failure: Error {}
    let shared = SharedLock()
    #expect(shared.lock.withLock { 42 } == 42)
    #expect(throws: Failure.self) { try shared.lock.withLock { throw Failure() } }
    #expect(shared.lock.withLock { 43 } == 43)
  }
}
