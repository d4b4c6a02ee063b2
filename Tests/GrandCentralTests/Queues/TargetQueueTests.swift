// Hierarchies of targets: contract row Q14.
import GrandCentral
import TestSupport
import Testing

@Suite("A target queue") struct TargetQueueTests {
  @Test func `serialises the queues that target it`() {
    let target = DispatchQueue(label: "target.shared")
    let children = (0..<4).map { DispatchQueue(label: "target.child.\($0)", target: target) }
    let inside = Counter()
    let count = Unguarded(0)
    let done = Latch(4 * 500)
    #expect(
      onThreads(4) { number in
        for _ in 0..<500 {
          children[number].async {
            inside.add()
            count.value += 1
            inside.add(-1)
            done.open()
          }
        }
      })
    #expect(done.wait())
    #expect(inside.peak == 1)
    #expect(target.sync { count.value } == 2000)
  }

  @Test func `serialises sync through different children`() {
    let target = DispatchQueue(label: "target.sync")
    let children = (0..<3).map { DispatchQueue(label: "target.sync.\($0)", target: target) }
    let count = Unguarded(0)
    #expect(
      onThreads(4) { number in
        let queue = number == 3 ? target : children[number]
        for _ in 0..<2000 { queue.sync { count.value += 1 } }
      })
    #expect(target.sync { count.value } == 8000)
  }

  @Test func `serialises concurrent children`() {
    let target = DispatchQueue(label: "target.serial")
    let children = (0..<2).map {
      DispatchQueue(label: "target.concurrent.\($0)", attributes: .concurrent, target: target)
    }
    let count = Unguarded(0)
    #expect(
      onThreads(4) { number in
        for round in 0..<1000 {
          if round % 3 == 0 {
            children[number % 2].async { count.value += 1 }
          } else {
            children[number % 2].sync { count.value += 1 }
          }
        }
      })
    for child in children { child.sync(flags: .barrier) {} }
    #expect(target.sync { count.value } == 4000)
  }

  @Test func `keeps the order of each child`() {
    let target = DispatchQueue(label: "target.order")
    let children = (0..<3).map { DispatchQueue(label: "target.order.\($0)", target: target) }
    let orders = Unguarded<[[Int]]>([[], [], []])
    let done = Latch(3 * 300)
    for number in 0..<300 {
      for (index, child) in children.enumerated() {
        child.async {
          orders.value[index].append(number)
          done.open()
        }
      }
    }
    #expect(done.wait())
    for index in 0..<3 { #expect(target.sync { orders.value[index] } == Array(0..<300)) }
  }

  @Test(arguments: [1, 3, 10, 40])
  func `works at any depth`(_ depth: Int) {
    let bottom = DispatchQueue(label: "target.depth.0")
    var top = bottom
    for level in 1...depth {
      top = DispatchQueue(
        label: "target.depth.\(level)", attributes: level % 2 == 0 ? .concurrent : [], target: top)
    }
    let queue = top
    let count = Unguarded(0)
    #expect(
      onThreads(3) { number in
        for _ in 0..<300 {
          switch number {
          case 0: queue.sync { count.value += 1 }
          case 1: queue.async { count.value += 1 }
          default: bottom.sync { count.value += 1 }
          }
        }
      })
    queue.sync(flags: .barrier) {}
    #expect(bottom.sync { count.value } == 900)
  }

  @Test func `that is concurrent runs its serial children side by side`() {
    let target = DispatchQueue(label: "target.wide", attributes: .concurrent)
    let left = DispatchQueue(label: "target.wide.left", target: target)
    let right = DispatchQueue(label: "target.wide.right", target: target)
    let started = Latch(2)
    let met = Latch(2)
    for queue in [left, right] {
      queue.async {
        started.open()
        if started.wait() { met.open() }
      }
    }
    #expect(met.wait())
  }

  @Test func `that is concurrent lets its barrier exclude the children`() {
    let target = DispatchQueue(label: "target.barrier", attributes: .concurrent)
    let children = (0..<3).map { DispatchQueue(label: "target.barrier.\($0)", target: target) }
    let inside = Counter()
    let disturbed = Counter()
    let done = Latch(300)
    for number in 0..<100 {
      for child in children.dropLast() {
        child.async {
          inside.add()
          inside.add(-1)
          done.open()
        }
      }
      target.async(flags: number % 4 == 0 ? .barrier : []) {
        if number % 4 == 0 && inside.value != 0 { disturbed.add() }
        done.open()
      }
    }
    #expect(done.wait())
    #expect(disturbed.value == 0)
  }

  @Test func `lives as long as the queues that target it`() {
    let gone = Latch()
    let key = DispatchSpecificKey<Witness>()
    var child: DispatchQueue?
    do {
      let target = DispatchQueue(label: "target.lifetime")
      target.setSpecific(key: key, value: Witness { gone.open() })
      child = DispatchQueue(label: "target.lifetime.child", target: target)
    }
    #expect(child?.sync { true } == true)
    #expect(!gone.isOpen)
    child = nil
    #expect(gone.wait())
  }

  @Test func `may be a global queue`() {
    let queue = DispatchQueue(label: "target.global", target: .global(qos: .utility))
    let order = Unguarded<[Int]>([])
    for number in 0..<100 { queue.async { order.value.append(number) } }
    queue.sync {}
    #expect(order.value == Array(0..<100))
  }

  @Test func `set to a work-free inactive queue before it starts`() {
    let target = DispatchQueue(label: "target.before", attributes: .initiallyInactive)
    let queue = DispatchQueue(label: "target.before.child", target: target)
    let runs = Counter()
    queue.async { runs.add() }
    settle()
    #expect(runs.value == 0)
    target.activate()
    #expect(runs.waitForValue(1))
  }
}
