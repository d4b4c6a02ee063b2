// Queues under load: contract rows Q2, Q3 and Q11.
import GrandCentral
import TestSupport
import Testing

/// Many threads use a few queues for some seconds. GRANDCENTRAL_STRESS multiplies the work and
/// GRANDCENTRAL_SEED replays a run.
@Suite("Queues under stress", .serialized) struct QueueStress {
  @Test func `one serial queue keeps every producer's order`() {
    let queue = DispatchQueue(label: "stress.producers")
    let producers = 8
    let each = stressed(5000)
    let next = Unguarded(Array(repeating: 0, count: producers))
    let outOfOrder = Unguarded(0)
    let done = Latch(producers * each)
    var generator = SeededGenerator(for: "producers")
    let seeds = (0..<producers).map { _ in generator.next() }
    #expect(
      onThreads(producers) { producer in
        var random = SeededGenerator(seed: seeds[producer])
        for number in 0..<each {
          let item: @Sendable () -> Void = {
            if next.value[producer] != number { outOfOrder.value += 1 }
            next.value[producer] = number + 1
            done.open()
          }
          switch random.next() % 8 {
          case 0: queue.sync(execute: item)
          case 1: queue.async(execute: DispatchWorkItem(block: item))
          case 2: queue.async(flags: .barrier, execute: item)
          default: queue.async(execute: item)
          }
        }
      })
    #expect(done.wait())
    #expect(queue.sync { outOfOrder.value } == 0)
    #expect(queue.sync { next.value } == Array(repeating: each, count: producers))
  }

  @Test func `readers and writers keep the invariant`() {
    let queue = DispatchQueue(label: "stress.readers", attributes: .concurrent)
    let table = Unguarded([Int](repeating: 0, count: 8))
    let torn = Counter()
    let writes = Counter()
    var generator = SeededGenerator(for: "readers and writers")
    let seeds = (0..<6).map { _ in generator.next() }
    #expect(
      onThreads(6) { thread in
        var random = SeededGenerator(seed: seeds[thread])
        for _ in 0..<stressed(3000) {
          switch random.next() % 20 {
          case 0:
            queue.async(flags: .barrier) { for index in 0..<8 { table.value[index] += 1 } }
            writes.add()
          case 1:
            queue.sync(flags: .barrier) { for index in 0..<8 { table.value[index] += 1 } }
            writes.add()
          case 2:
            queue.async { if Set(table.value).count != 1 { torn.add() } }
          default:
            queue.sync { if Set(table.value).count != 1 { torn.add() } }
          }
        }
      })
    let final = queue.sync(flags: .barrier) { table.value }
    #expect(torn.value == 0)
    #expect(final == Array(repeating: writes.value, count: 8))
  }

  @Test func `suspend and resume storms lose nothing`() {
    let queues = [
      DispatchQueue(label: "stress.suspend.serial"),
      DispatchQueue(label: "stress.suspend.concurrent", attributes: .concurrent),
    ]
    let each = stressed(2000)
    let done = Latch(2 * 2 * each)
    #expect(
      onThreads(6) { thread in
        let queue = queues[thread % 2]
        for _ in 0..<each {
          if thread < 4 {
            queue.async { done.open() }
          } else {
            queue.suspend()
            queue.suspend()
            queue.resume()
            queue.resume()
          }
        }
      })
    #expect(done.wait())
    for queue in queues { #expect(queue.sync(flags: .barrier) { true }) }
  }

  @Test func `activation races with submission`() {
    let rounds = stressed(500)
    let done = Latch(rounds * 4)
    for round in 0..<rounds {
      let queue = DispatchQueue(
        label: "stress.activate.\(round)",
        attributes: round % 2 == 0 ? .initiallyInactive : [.initiallyInactive, .concurrent])
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        if number == 2 { queue.activate() }
        queue.async { done.open() }
      }
      queue.activate()
    }
    #expect(done.wait())
  }

  @Test func `queues come and go with work pending`() {
    let rounds = stressed(2000)
    let done = Latch(4 * rounds * 3)
    #expect(
      onThreads(4) { thread in
        for round in 0..<rounds {
          let target = DispatchQueue(label: "stress.target")
          let queue = DispatchQueue(
            label: "stress.drop", attributes: round % 3 == 0 ? .concurrent : [], target: target)
          for _ in 0..<3 { queue.async { done.open() } }
        }
      })
    #expect(done.wait())
  }

  @Test(arguments: [DispatchQueueKind.serial, .concurrent])
  func `queues are dropped right after resume, activate and sync`(_ kind: DispatchQueueKind) {
    // The last reference is released while the items that the call released are in flight.
    let rounds = stressed(500)
    let done = Latch(3 * rounds * 4)
    for round in 0..<rounds {
      let suspended = DispatchQueue(label: "stress.resume", attributes: kind.attributes)
      suspended.suspend()
      for _ in 0..<4 { suspended.async { done.open() } }
      suspended.resume()
      let inactive = DispatchQueue(
        label: "stress.inactive", attributes: kind.attributes.union(.initiallyInactive))
      for _ in 0..<4 { inactive.async { done.open() } }
      inactive.activate()
      let held = DispatchQueue(label: "stress.held", attributes: kind.attributes)
      held.sync(flags: .barrier) {
        for _ in 0..<4 { held.async { done.open() } }
      }
      if round % 50 == 0 { DispatchQueue.global().sync {} }
    }
    #expect(done.wait())
  }

  @Test func `work that makes work ends`() {
    let count = Counter()
    let total = (1 << 13) - 1
    @Sendable func grow(_ depth: Int, _ queue: DispatchQueue) {
      count.add()
      if depth == 0 { return }
      let child = depth % 4 == 0 ? DispatchQueue(label: "stress.tree.\(depth)") : queue
      for _ in 0..<2 { child.async { grow(depth - 1, child) } }
    }
    let root = DispatchQueue(label: "stress.tree", attributes: .concurrent)
    root.async { grow(12, root) }
    #expect(count.waitForValue(total))
  }

  @Test func `concurrentPerform nests under load`() {
    let count = Counter()
    let rounds = stressed(20)
    #expect(
      onThreads(3) { _ in
        for _ in 0..<rounds {
          DispatchQueue.concurrentPerform(iterations: 10) { _ in
            DispatchQueue.concurrentPerform(iterations: 10) { _ in count.add() }
          }
        }
      })
    #expect(count.value == 3 * rounds * 100)
  }
}

/// The two kinds of queue, as a test argument.
enum DispatchQueueKind: Sendable {
  case serial, concurrent

  var attributes: DispatchQueue.Attributes { self == .serial ? [] : .concurrent }
}
