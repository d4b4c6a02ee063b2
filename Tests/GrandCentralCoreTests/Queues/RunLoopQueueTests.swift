// A queue for a run loop: its items run in perform(), one a turn, however they come.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A run loop's queue") struct RunLoopQueueTests {
  @Test func `runs one item a turn, on the thread that turns`() {
    let queue = RunLoopQueue(label: "test.turns")
    let log = Log<Int>()
    #expect(!queue.perform())
    let here = UInt(bitPattern: currentThread())
    for number in 0..<5 {
      queue.async {
        #expect(UInt(bitPattern: currentThread()) == here && DispatchQueue.current === queue)
        log.append(number)
      }
    }
    for number in 0..<5 {
      #expect(log.count == number)
      #expect(queue.perform() == (number < 4))
    }
    #expect(!queue.perform() && log.all == Array(0..<5))
  }

  @Test func `gets all that other threads submit and sync, each once and alone`() {
    let queue = RunLoopQueue(label: "test.turns")
    // Not atomic: the queue guards it.
    let sum = Unguarded(0)
    let total = 2000
    let ended = Counter()
    let threads = (0..<3).map { number in
      TestSupport.TestThread("submits \(number)") {
        for step in 0..<total {
          if step % 16 == 0 {
            queue.sync { sum.value += 1 }
          } else {
            queue.async { sum.value += 1 }
          }
        }
        ended.add()
      }
    }
    #expect(
      eventually {
        while queue.perform() {}
        return ended.value == threads.count && !queue.perform()
      })
    for thread in threads { #expect(thread.join()) }
    #expect(queue.sync { sum.value } == 3 * total)
  }

  @Test func `ends with its work`() {
    weak var ended: RunLoopQueue?
    let log = Log<Int>()
    do {
      let queue = RunLoopQueue(label: "test.ends")
      ended = queue
      queue.async { log.append(1) }
      #expect(!queue.perform())
    }
    #expect(ended == nil && log.all == [1])
  }
}
