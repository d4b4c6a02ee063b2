// Values of queues: contract row Q18.
import GrandCentral
import TestSupport
import Testing

@Suite("Queue-specific data") struct SpecificTests {
  @Test func `is read back from the queue`() {
    let queue = DispatchQueue(label: "specific.read")
    let number = DispatchSpecificKey<Int>()
    let text = DispatchSpecificKey<String>()
    #expect(queue.getSpecific(key: number) == nil)
    queue.setSpecific(key: number, value: 7)
    queue.setSpecific(key: text, value: "seven")
    #expect(queue.getSpecific(key: number) == 7)
    #expect(queue.getSpecific(key: text) == "seven")
    queue.setSpecific(key: number, value: 8)
    #expect(queue.getSpecific(key: number) == 8)
    queue.setSpecific(key: number, value: nil)
    #expect(queue.getSpecific(key: number) == nil)
    #expect(queue.getSpecific(key: text) == "seven")
  }

  @Test func `belongs to one key and one queue`() {
    let first = DispatchQueue(label: "specific.first")
    let second = DispatchQueue(label: "specific.second")
    let key = DispatchSpecificKey<Int>()
    let other = DispatchSpecificKey<Int>()
    first.setSpecific(key: key, value: 1)
    #expect(first.getSpecific(key: other) == nil)
    #expect(second.getSpecific(key: key) == nil)
  }

  @Test func `is seen by items of its queue only`() {
    let queue = DispatchQueue(label: "specific.items")
    let other = DispatchQueue(label: "specific.other")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 3)
    let seen = Box<Int?>(nil)
    let done = Latch()
    queue.async {
      seen.value = DispatchQueue.getSpecific(key: key)
      done.open()
    }
    #expect(done.wait())
    #expect(seen.value == 3)
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == 3)
    #expect(other.sync { DispatchQueue.getSpecific(key: key) } == nil)
    let outside = Box<Int?>(1)
    #expect(TestThread { outside.value = DispatchQueue.getSpecific(key: key) }.join())
    #expect(outside.value == nil)
  }

  @Test(arguments: [1, 5])
  func `is found up the target hierarchy`(_ depth: Int) {
    let key = DispatchSpecificKey<String>()
    let bottom = DispatchQueue(label: "specific.bottom")
    bottom.setSpecific(key: key, value: "bottom")
    var queue = bottom
    for level in 1...depth {
      queue = DispatchQueue(
        label: "specific.level.\(level)", attributes: level % 2 == 1 ? .concurrent : [],
        target: queue)
    }
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == "bottom")
    let seen = Log<String?>()
    queue.async { seen.append(DispatchQueue.getSpecific(key: key)) }
    #expect(seen.waitForCount(1))
    #expect(seen.all == ["bottom"])
    // `getSpecific` of the queue itself does not search its targets.
    #expect(queue.getSpecific(key: key) == nil)
  }

  @Test func `of the nearest queue wins`() {
    let key = DispatchSpecificKey<String>()
    let bottom = DispatchQueue(label: "specific.far")
    let top = DispatchQueue(label: "specific.near", target: bottom)
    bottom.setSpecific(key: key, value: "far")
    top.setSpecific(key: key, value: "near")
    #expect(top.sync { DispatchQueue.getSpecific(key: key) } == "near")
    #expect(bottom.sync { DispatchQueue.getSpecific(key: key) } == "far")
  }

  @Test func `is released when replaced, removed, and with its queue`() {
    let key = DispatchSpecificKey<Witness>()
    let gone = (0..<3).map { _ in Latch() }
    do {
      let queue = DispatchQueue(label: "specific.released")
      queue.setSpecific(key: key, value: Witness { gone[0].open() })
      queue.setSpecific(key: key, value: Witness { gone[1].open() })
      #expect(gone[0].wait())
      #expect(!gone[1].isOpen)
      queue.setSpecific(key: key, value: nil)
      #expect(gone[1].wait())
      queue.setSpecific(key: key, value: Witness { gone[2].open() })
    }
    #expect(gone[2].wait())
  }

  @Test func `works on a concurrent queue from many threads`() {
    let queue = DispatchQueue(label: "specific.concurrent", attributes: .concurrent)
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 0)
    let wrong = Counter()
    #expect(
      onThreads(4) { thread in
        for round in 0..<500 {
          if thread == 0 { queue.setSpecific(key: key, value: round) }
          if queue.sync(execute: { DispatchQueue.getSpecific(key: key) }) == nil { wrong.add() }
        }
      })
    #expect(wrong.value == 0)
    #expect(queue.getSpecific(key: key) == 499)
  }

  @Test func `survives its key`() {
    let queue = DispatchQueue(label: "specific.key")
    let gone = Latch()
    do {
      let key = DispatchSpecificKey<Witness>()
      queue.setSpecific(key: key, value: Witness { gone.open() })
    }
    #expect(queue.sync { true })
  }
}
