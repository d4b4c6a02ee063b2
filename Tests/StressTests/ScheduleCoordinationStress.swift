import GrandCentral
import TestSupport
import Testing

@Suite("Groups, semaphores and items under hard schedules", .serialized)
struct ScheduleCoordinationStress {
  @Test(arguments: Schedule.Shape.allCases)
  func `a group notifies after all members`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "groups")
    defer { schedule.end() }
    let each = schedule.share(of: 1200)
    let early = Counter()
    let notified = Latch(schedule.threads * each)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let group = DispatchGroup()
        let members = Counter()
        for member in 0..<3 {
          group.enter()
          schedule.step(&random)
          DispatchQueue.global().async {
            schedule.step(thread << 16 | number << 2 | member)
            members.add()
            group.leave()
          }
        }
        group.notify(queue: .global()) {
          if members.value != 3 { early.add() }
          notified.open()
        }
        switch random.next() % 4 {
        case 0:
          group.wait()
          if members.value != 3 { early.add() }
        case 1:
          if group.wait(timeout: .now() + .microseconds(20)) == .success, members.value != 3 {
            early.add()
          }
        default: break
        }
      }
    }
    #expect(ended && notified.wait())
    #expect(early.value == 0)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `a semaphore keeps its count though waits time out`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "semaphores")
    defer { schedule.end() }
    let semaphore = DispatchSemaphore(value: 2)
    let inside = Counter()
    let tooEarly = Counter()
    let each = schedule.share(of: 4000)
    let ended = schedule.run { thread, random in
      for _ in 0..<each {
        schedule.step(&random)
        if random.next() % 2 == 0 {
          let deadline = DispatchTime.now() + .microseconds(Int(random.next() % 60))
          guard semaphore.wait(timeout: deadline) == .success else {
            if DispatchTime.now() < deadline { tooEarly.add() }
            continue
          }
        } else {
          semaphore.wait()
        }
        inside.add()
        schedule.step(&random)
        inside.add(-1)
        semaphore.signal()
      }
    }
    #expect(ended)
    #expect(inside.peak <= 2)
    #expect(tooEarly.value == 0)
    // Exactly two permits are available.
    #expect(semaphore.wait(timeout: .now()) == .success)
    #expect(semaphore.wait(timeout: .now()) == .success)
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
    for _ in 0..<2 { semaphore.signal() }
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `an item runs, is cancelled, waited for and notified once`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "items")
    defer { schedule.end() }
    let queues = [
      DispatchQueue(label: "schedule.items"),
      DispatchQueue(label: "schedule.items.wide", attributes: .concurrent),
    ]
    let each = schedule.share(of: 2000)
    let notified = Latch(schedule.threads * each)
    let wrong = Counter()
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let ran = Counter()
        let item = DispatchWorkItem {
          schedule.step(thread << 16 | number)
          ran.add()
        }
        item.notify(queue: .global()) {
          if ran.value > 1 { wrong.add() }
          notified.open()
        }
        let isCancelledBefore = random.next() % 8 == 0
        if isCancelledBefore { item.cancel() }
        queues[Int(random.next() % 2)].async(execute: item)
        schedule.step(&random)
        if random.next() % 4 == 0 { item.cancel() }
        if random.next() % 2 == 0 {
          item.wait()
          if ran.value != 1 && !item.isCancelled { wrong.add() }
        } else if item.wait(timeout: .now() + .microseconds(10)) == .success {
          if ran.value != 1 && !item.isCancelled { wrong.add() }
        }
        if isCancelledBefore && ran.value != 0 { wrong.add() }
      }
    }
    #expect(ended && notified.wait())
    #expect(wrong.value == 0)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `nodes of short-lived threads come back`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "nodes")
    defer { schedule.end() }
    let queue = DispatchQueue(label: "schedule.nodes")
    let rounds = schedule.share(of: 240)
    let done = Latch(schedule.threads * rounds * 20)
    let sum = Unguarded(0)
    let ended = schedule.run { thread, random in
      for round in 0..<rounds {
        let first = Int(random.next() % 8)
        // A thread that creates nodes and ends while they are in flight.
        let short = TestThread("short") {
          for number in 0..<20 {
            if number >= first { schedule.step(thread << 16 | round << 6 | number) }
            queue.async {
              sum.value += number
              done.open()
            }
          }
        }
        schedule.step(&random)
        if round % 2 == 0, !short.join() { return }
      }
    }
    #expect(ended && done.wait())
    #expect(queue.sync { sum.value } == schedule.threads * rounds * 190)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `concurrentPerform nests, each iteration once`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "perform")
    defer { schedule.end() }
    let each = schedule.share(of: 320)
    let count = Counter()
    let ended = schedule.run { thread, random in
      for round in 0..<each {
        schedule.step(&random)
        DispatchQueue.concurrentPerform(iterations: 6) { outer in
          schedule.step(thread << 16 | round << 4 | outer)
          DispatchQueue.concurrentPerform(iterations: 7) { _ in count.add() }
        }
      }
    }
    #expect(ended)
    #expect(count.value == schedule.threads * each * 42)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `work from all sides and of all classes is run once`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "mixture")
    defer { schedule.end() }
    let classes: [DispatchQoS.QoSClass] = [
      .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    let each = schedule.share(of: 3000)
    let total = schedule.threads * each
    let runs = (0..<16).map { _ in Counter() }
    let semaphore = DispatchSemaphore(value: 0)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let index = (thread * each + number) % 16
        let isSleeper = random.next() % 64 == 0
        schedule.step(&random)
        DispatchQueue.global(qos: classes.randomElement(using: &random)!).async {
          schedule.step(thread << 16 | number)
          // While the item sleeps, another item may use its share of the width.
          if isSleeper { _ = semaphore.wait(timeout: .now() + .microseconds(200)) }
          DispatchQueue.global().async { runs[index].add() }
        }
      }
    }
    #expect(ended)
    #expect(eventually { runs.reduce(0) { $0 + $1.value } == total })
  }
}
