// The protocols of queues under schedules that a machine rarely produces by itself.
import GrandCentral
import TestSupport
import Testing

@Suite("Queues under hard schedules", .serialized) struct ScheduleQueueStress {
  @Test(arguments: Schedule.Shape.allCases)
  func `a serial queue keeps order though sync barges in`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "lanes")
    defer { schedule.end() }
    let queue = DispatchQueue(label: "schedule.serial")
    let each = schedule.share(of: 6000)
    let next = Unguarded(Array(repeating: 0, count: schedule.threads))
    let outOfOrder = Unguarded(0)
    let done = Latch(schedule.threads * each)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let item: @Sendable () -> Void = {
          if next.value[thread] != number { outOfOrder.value += 1 }
          next.value[thread] = number + 1
          schedule.step(thread << 16 | number)
          done.open()
        }
        schedule.step(&random)
        switch random.next() % 8 {
        case 0, 1: queue.sync(execute: item)
        case 2: queue.async(flags: .barrier, execute: item)
        case 3: queue.asyncAndWait(execute: DispatchWorkItem(block: item))
        // The lane becomes idle in between: it is released and acquired again.
        case 4:
          queue.async(execute: item)
          queue.sync {}
        default: queue.async(execute: item)
        }
      }
    }
    #expect(ended && done.wait())
    #expect(queue.sync { outOfOrder.value } == 0)
    #expect(queue.sync { next.value } == Array(repeating: each, count: schedule.threads))
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `barriers are alone and readers see whole writes`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "barriers")
    defer { schedule.end() }
    let queue = DispatchQueue(label: "schedule.concurrent", attributes: .concurrent)
    let table = Unguarded([Int](repeating: 0, count: 4))
    let torn = Counter()
    let writes = Counter()
    let each = schedule.share(of: 4000)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let write: @Sendable () -> Void = {
          for index in 0..<4 {
            table.value[index] += 1
            if index == 1 { schedule.step(thread << 16 | number) }
          }
        }
        let read: @Sendable () -> Void = {
          let first = table.value[0]
          schedule.step(thread << 16 | number)
          if table.value[3] != first { torn.add() }
        }
        schedule.step(&random)
        switch random.next() % 10 {
        case 0:
          writes.add()
          queue.async(flags: .barrier, execute: write)
        case 1:
          writes.add()
          queue.sync(flags: .barrier, execute: write)
        case 2, 3, 4: queue.async(execute: read)
        default: queue.sync(execute: read)
        }
      }
    }
    #expect(ended)
    #expect(queue.sync(flags: .barrier) { table.value } == Array(repeating: writes.value, count: 4))
    #expect(torn.value == 0)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `nothing starts while a queue is suspended, and nothing is lost`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "suspension")
    defer { schedule.end() }
    let queues = [
      DispatchQueue(label: "schedule.suspend.serial"),
      DispatchQueue(label: "schedule.suspend.concurrent", attributes: .concurrent),
    ]
    let each = schedule.share(of: 3000)
    let done = Latch(schedule.threads * each)
    let started = [Counter(), Counter()]
    let early = Counter()
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let index = Int(random.next() % 2)
        let queue = queues[index]
        schedule.step(&random)
        if random.next() % 4 == 0 {
          // A barrier that suspends: no later item starts before the resume.
          queue.async(flags: .barrier) {
            queue.suspend()
            let before = started[index].value
            schedule.step(thread << 16 | number)
            if started[index].value != before { early.add() }
            queue.resume()
            done.open()
          }
        } else {
          queue.async {
            started[index].add()
            done.open()
          }
          queue.suspend()
          schedule.step(&random)
          queue.resume()
        }
      }
    }
    #expect(ended && done.wait())
    #expect(early.value == 0)
    for queue in queues { #expect(queue.sync(flags: .barrier) { true }) }
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `queues are activated, retargeted and dropped as work comes in`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "activation")
    defer { schedule.end() }
    let each = schedule.share(of: 800)
    let done = Latch(schedule.threads * each * 4)
    let bases = [DispatchQueue(label: "schedule.base"), DispatchQueue.global(qos: .utility)]
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let queue = DispatchQueue(
          label: "schedule.inactive",
          attributes: random.next() % 2 == 0
            ? .initiallyInactive : [.initiallyInactive, .concurrent])
        for part in 0..<4 {
          schedule.step(&random)
          if part == 1 { queue.setTarget(queue: bases.randomElement(using: &random)!) }
          if part == 2 { queue.activate() }
          queue.async {
            schedule.step(thread << 16 | number)
            done.open()
          }
        }
      }
    }
    #expect(ended && done.wait())
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `a queue moves between targets under load`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "retarget")
    defer { schedule.end() }
    let bases = (0..<3).map { DispatchQueue(label: "schedule.base.\($0)") }
    let queue = DispatchQueue(label: "schedule.moving", target: bases[0])
    let count = Unguarded(0)
    let each = schedule.share(of: 3000)
    let done = Latch(schedule.threads * each)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        schedule.step(&random)
        switch random.next() % 16 {
        case 0:
          queue.setTarget(queue: bases.randomElement(using: &random)!)
          done.open()
        case 1: bases.randomElement(using: &random)!.async { done.open() }
        case 2, 3, 4:
          queue.sync { count.value += 1 }
          done.open()
        default:
          queue.async {
            count.value += 1
            schedule.step(thread << 16 | number)
            done.open()
          }
        }
      }
    }
    #expect(ended && done.wait())
    // An overlap would make the count wrong, and the thread sanitizer would report it.
    #expect(queue.sync { count.value } <= schedule.threads * each)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `deep trees with a serial root are serial`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "trees")
    defer { schedule.end() }
    let root = DispatchQueue(label: "schedule.root")
    var queues = [root]
    for depth in 1...24 {
      // A chain with a side branch at each level.
      let parent = queues[max(0, depth - 1 - depth % 2)]
      queues.append(
        DispatchQueue(
          label: "schedule.depth.\(depth)", attributes: depth % 3 == 0 ? .concurrent : [],
          target: parent))
    }
    let all = queues
    let count = Unguarded(0)
    let each = schedule.share(of: 2400)
    let done = Latch(schedule.threads * each)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let work: @Sendable () -> Void = {
          let seen = count.value
          schedule.step(thread << 16 | number)
          count.value = seen + 1
          done.open()
        }
        schedule.step(&random)
        let queue = all.randomElement(using: &random)!
        switch random.next() % 8 {
        case 0: queue.sync(execute: work)
        case 1: queue.async(flags: .barrier, execute: work)
        default: queue.async(execute: work)
        }
      }
    }
    #expect(ended && done.wait())
    #expect(root.sync { count.value } == schedule.threads * each)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `long waits in one order are never taken for a deadlock`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "detector")
    defer { schedule.end() }
    let base = DispatchQueue(label: "schedule.order.base")
    let outer = DispatchQueue(label: "schedule.order.outer", target: base)
    let middle = DispatchQueue(label: "schedule.order.middle", attributes: .concurrent)
    let inner = DispatchQueue(label: "schedule.order.inner")
    let count = Unguarded(0)
    let each = stressed(8)
    // At times all other threads arrive first: longer than the search for a deadlock cycle takes.
    let heldSeconds = 0.08 / Double(schedule.threads)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        schedule.step(&random)
        let flags: DispatchWorkItemFlags = random.next() % 3 == 0 ? .barrier : []
        let work = {
          inner.sync {
            count.value += 1
            let end = monotonicSeconds() + heldSeconds
            spin { monotonicSeconds() >= end }
            schedule.step(thread << 16 | number)
          }
        }
        if random.next() % 2 == 0 {
          outer.sync { middle.sync(flags: flags, execute: work) }
        } else {
          middle.sync(flags: flags, execute: work)
        }
        if random.next() % 8 == 0 { middle.async(flags: .barrier) {} }
      }
    }
    #expect(ended)
    #expect(inner.sync { count.value } == schedule.threads * each)
  }
}
