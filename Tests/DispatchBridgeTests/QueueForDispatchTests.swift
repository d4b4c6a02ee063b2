// A queue of Dispatch whose items run on a queue of Grand Central.
import Foundation
import GrandCentral
import GrandCentralDispatchBridge
import TestSupport
import Testing

@Suite("A queue of Dispatch on a queue of Grand Central", .timeLimit(.minutes(30)))
struct QueueForDispatchTests {
  @Test func `runs its items in order, on the queue`() {
    let queue = DispatchQueue(label: "bridge.order")
    let theirs = queue.makeDispatchQueue(label: "bridge.order.theirs")
    #expect(theirs.label == "bridge.order.theirs")
    let log = Log<Int>()
    for number in 0..<1000 {
      theirs.async {
        GrandCentral.dispatchPrecondition(condition: .onQueue(queue))
        Dispatch.dispatchPrecondition(condition: .onQueue(theirs))
        log.append(number)
      }
    }
    #expect(log.waitForCount(1000))
    #expect(log.all == Array(0..<1000))
  }

  @Test func `excludes the queue's own items, for sync too`() {
    let queue = DispatchQueue(label: "bridge.exclusion")
    let theirs = queue.makeDispatchQueue(label: "bridge.exclusion.theirs")
    let total = Unguarded(0)
    let threads = Latch(6)
    for kind in 0..<6 {
      Thread.detachNewThread {
        for _ in 0..<500 {
          switch kind % 3 {
          case 0: theirs.async { total.value += 1 }
          case 1: queue.async { total.value += 1 }
          default: theirs.sync { total.value += 1 }
          }
        }
        threads.open()
      }
    }
    #expect(threads.wait())
    // In order behind all items of each.
    theirs.sync {}
    #expect(queue.sync { total.value } == 3000)
  }

  @Test func `returns what a sync returns, and passes its error on`() {
    let queue = DispatchQueue(label: "bridge.sync")
    let theirs = queue.makeDispatchQueue(label: "bridge.sync.theirs")
    #expect(theirs.sync { 42 } == 42)
    #expect(throws: CancellationError.self) { try theirs.sync { throw CancellationError() } }
    // The thread that created the queue may call sync as any other: see RunLoopThread.
    for _ in 0..<100 {
      theirs.sync { GrandCentral.dispatchPrecondition(condition: .onQueue(queue)) }
    }
  }

  @Test func `waits while either queue is suspended`() {
    let queue = DispatchQueue(label: "bridge.suspended")
    let theirs = queue.makeDispatchQueue(label: "bridge.suspended.theirs")
    let log = Log<String>()
    queue.suspend()
    theirs.async { log.append("theirs") }
    // The item behind it on the other library shows that time has passed for it.
    let other = DispatchQueue(label: "bridge.other").makeDispatchQueue(label: "bridge.other.theirs")
    other.sync {}
    #expect(log.all.isEmpty)
    queue.resume()
    #expect(log.waitForCount(1))
    theirs.suspend()
    theirs.async { log.append("theirs again") }
    queue.sync { log.append("ours") }
    #expect(log.all == ["theirs", "ours"])
    theirs.resume()
    #expect(log.waitForCount(3))
  }

  @Test func `serves an OperationQueue of Foundation`() {
    let queue = DispatchQueue(label: "bridge.operations")
    let operations = OperationQueue()
    operations.underlyingQueue = queue.makeDispatchQueue(label: "bridge.operations.theirs")
    let total = Unguarded(0)
    for _ in 0..<200 {
      operations.addOperation {
        GrandCentral.dispatchPrecondition(condition: .onQueue(queue))
        total.value += 1
      }
      queue.async { total.value += 1 }
    }
    operations.waitUntilAllOperationsAreFinished()
    #expect(queue.sync { total.value } == 400)
  }

  @Test func `serves timers and groups of Dispatch`() {
    let queue = DispatchQueue(label: "bridge.timers")
    let theirs = queue.makeDispatchQueue(label: "bridge.timers.theirs")
    let ticks = Latch(3)
    let timer = Dispatch.DispatchSource.makeTimerSource(queue: theirs)
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    timer.setEventHandler {
      GrandCentral.dispatchPrecondition(condition: .onQueue(queue))
      ticks.open()
    }
    timer.activate()
    #expect(ticks.wait())
    timer.cancel()
    let group = Dispatch.DispatchGroup()
    let notified = Latch()
    theirs.async(group: group) {}
    group.notify(queue: theirs) {
      GrandCentral.dispatchPrecondition(condition: .onQueue(queue))
      notified.open()
    }
    #expect(notified.wait())
  }

  @Test func `leaves nothing behind when it is released at once, with work, or suspended`() {
    let ended = Counter()
    let ran = Counter()
    for round in 0..<150 {
      inFrameOfItsOwn {
        let queue = DispatchQueue(label: "bridge.life.\(round)")
        queue.setSpecific(key: lifeKey, value: Witness { ended.add() })
        let theirs = queue.makeDispatchQueue(label: "bridge.life.theirs")
        if round % 3 > 0 { for _ in 0..<round { theirs.async { ran.add() } } }
        if round % 3 == 2 { theirs.sync {} }
      }
    }
    #expect(ran.waitForValue((0..<150).filter { $0 % 3 > 0 }.reduce(0, +)))
    #expect(ended.waitForValue(150))
  }
}

private let lifeKey = DispatchSpecificKey<Witness>()

/// Runs `body` in a frame of its own, so that its references end with it.
@inline(never)
private func inFrameOfItsOwn(_ body: () -> Void) { body() }
