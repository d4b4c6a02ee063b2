// A queue for a run loop: its items run in perform(), one per call, however they are submitted.
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

  @Test func `runs all that other threads submit and sync, once and one at a time`() {
    let queue = RunLoopQueue(label: "test.turns")
    // Not atomic: the queue guards it.
    let sum = Unguarded(0)
    let total = 2000
    // Only this thread calls perform(), so only this thread changes the count; sync does not.
    let here = Unguarded(0)
    let ended = Counter()
    let threads = (0..<3).map { number in
      TestThread("submits \(number)") {
        for step in 0..<total {
          if step % 16 == 0 {
            queue.sync { sum.value += 1 }
          } else {
            queue.async {
              sum.value += 1
              here.value += 1
            }
          }
        }
        ended.add()
      }
    }
    var most = 0
    let isOver = eventually {
      var isMore = false
      repeat {
        let before = here.value
        isMore = queue.perform()
        most = max(most, here.value - before)
      } while isMore
      return ended.value == threads.count && !queue.perform()
    }
    #expect(isOver && most == 1, "a turn is one item")
    for thread in threads { #expect(thread.join()) }
    #expect(queue.sync { sum.value } == 3 * total)
  }

  @Test func `signals once for each item, at any urgency`() {
    weak var ended: RunLoopQueue?
    let log = Log<Int>()
    do {
      let queue = RunLoopQueue(label: "test.urgent")
      ended = queue
      queue.async(qos: .background) { log.append(0) }
      queue.async(qos: .userInteractive) { log.append(1) }
      #expect(queue.perform() && log.all == [0])
      #expect(!queue.perform() && log.all == [0, 1])
    }
    #expect(ended == nil)
  }

  @Test func `runs its finalizer on another thread at its end`() {
    let ended = Latch()
    do {
      let queue = RunLoopQueue(label: "test.finalizer")
      queue.context = Unmanaged.passUnretained(ended).toOpaque()
      queue.setFinalizer {
        Unmanaged<Latch>.fromOpaque($0.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0.open() }
      }
    }
    #expect(ended.wait())
  }

  @Test func `ends when its work has run`() {
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
