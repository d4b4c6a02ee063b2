// Loops on all CPUs: contract row Q22.
import GrandCentral
import TestSupport
import Testing

@Suite("concurrentPerform") struct ConcurrentPerformTests {
  @Test(arguments: [0, 1, 2, 3, 7, 64, 1000, 100_000])
  func `runs every iteration exactly once before it returns`(_ iterations: Int) {
    let runs = UnsafeMutableBufferPointer<Int32>.allocate(capacity: iterations)
    runs.initialize(repeating: 0)
    defer { runs.deallocate() }
    // Each iteration owns one element.
    nonisolated(unsafe) let shared = runs
    DispatchQueue.concurrentPerform(iterations: iterations) { shared[$0] += 1 }
    #expect(runs.allSatisfy { $0 == 1 })
  }

  @Test func `runs iterations on the caller's thread too`() {
    let caller = threadID()
    let threads = Log<Int>()
    DispatchQueue.concurrentPerform(iterations: 1) { _ in threads.append(threadID()) }
    #expect(threads.all == [caller])
  }

  @Test func `nests`() {
    let count = Counter()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        DispatchQueue.concurrentPerform(iterations: 8) { _ in count.add() }
      }
    }
    #expect(count.value == 512)
  }

  @Test func `may use queues from its iterations`() {
    let queue = DispatchQueue(label: "perform.sync")
    let sum = Unguarded(0)
    DispatchQueue.concurrentPerform(iterations: 1000) { number in
      queue.sync { sum.value += number }
    }
    #expect(queue.sync { sum.value } == 499_500)
  }

  @Test func `works inside items of a serial and a concurrent queue`() {
    for kind in QueueKind.allCases {
      let queue = DispatchQueue(label: "perform.inside", attributes: kind.attributes)
      let count = Counter()
      let done = Latch()
      queue.async {
        DispatchQueue.concurrentPerform(iterations: 100) { _ in count.add() }
        done.open()
      }
      #expect(done.wait())
      #expect(count.value == 100)
    }
  }

  @Test func `runs on several threads at once`() {
    let counts = Log<Int>()
    #expect(
      onThreads(3) { _ in
        let count = Counter()
        DispatchQueue.concurrentPerform(iterations: 500) { _ in count.add() }
        counts.append(count.value)
      })
    #expect(counts.all == [500, 500, 500])
  }

  @Test func `shares uneven iterations among the workers`() {
    let sum = Counter()
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      var total = 0
      for value in 0..<(number % 50 == 0 ? 20_000 : 10) { total &+= value }
      sum.add(total > 0 ? 1 : 0)
    }
    #expect(sum.value == 200)
  }
}
