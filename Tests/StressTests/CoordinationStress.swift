import GrandCentral
import TestSupport
import Testing

@Suite("Groups, semaphores and items under stress", .serialized) struct CoordinationStress {
  @Test func `groups notify after all members, every time`() {
    let rounds = stressed(300)
    let early = Counter()
    let notified = Latch(4 * rounds)
    #expect(
      onThreads(4) { _ in
        for _ in 0..<rounds {
          let group = DispatchGroup()
          let members = Counter()
          for _ in 0..<4 {
            DispatchQueue.global().async(group: group) { members.add() }
          }
          group.notify(queue: .global()) {
            if members.value != 4 { early.add() }
            notified.open()
          }
        }
      })
    #expect(notified.wait())
    #expect(early.value == 0)
  }

  @Test func `one group is shared by many threads`() {
    let group = DispatchGroup()
    let rounds = stressed(2000)
    let notified = Latch(2 * rounds)
    #expect(
      onThreads(6) { thread in
        for round in 0..<rounds {
          switch thread % 3 {
          case 0:
            group.enter()
            DispatchQueue.global().async { group.leave() }
          case 1:
            group.notify(queue: .global()) { notified.open() }
          default:
            if round % 16 == 0 {
              group.wait()
            } else {
              _ = group.wait(timeout: .now() + .microseconds(50))
            }
          }
        }
      })
    group.wait()
    #expect(notified.wait())
  }

  @Test func `a semaphore never admits more than its value`() {
    let semaphore = DispatchSemaphore(value: 3)
    let inside = Counter()
    let entered = Counter()
    let rounds = stressed(2000)
    var generator = SeededGenerator(for: "semaphore")
    let seeds = (0..<6).map { _ in generator.next() }
    #expect(
      onThreads(6) { thread in
        var random = SeededGenerator(seed: seeds[thread])
        for _ in 0..<rounds {
          if random.next() % 4 == 0 {
            guard semaphore.wait(timeout: .now() + .microseconds(30)) == .success else { continue }
          } else {
            semaphore.wait()
          }
          entered.add()
          inside.add()
          inside.add(-1)
          semaphore.signal()
        }
      })
    #expect(inside.peak <= 3)
    #expect(entered.value > 0)
    for _ in 0..<3 { #expect(semaphore.wait(timeout: .now()) == .success) }
    for _ in 0..<3 { semaphore.signal() }
  }

  @Test func `items that block on each other's semaphores all end`() {
    // Fewer than in the pool's own test: this process also runs other work.
    let count = 100
    let semaphores = (0...count).map { _ in DispatchSemaphore(value: 0) }
    let done = Latch(count)
    for number in 0..<count {
      DispatchQueue.global().async {
        semaphores[number + 1].wait()
        semaphores[number].signal()
        done.open()
      }
    }
    semaphores[count].signal()
    #expect(done.wait())
    semaphores[0].wait()
  }

  @Test func `cancelling races with running`() {
    let rounds = stressed(2000)
    let queue = DispatchQueue(label: "stress.cancel", attributes: .concurrent)
    let done = Latch(rounds)
    for _ in 0..<rounds {
      let item = Box(DispatchWorkItem {})
      item.value.notify(queue: .global()) { done.open() }
      queue.async(execute: item.value)
      item.value.cancel()
    }
    #expect(done.wait())
  }

  @Test func `waiting races with running`() {
    let rounds = stressed(2000)
    #expect(
      onThreads(4) { thread in
        let queue = DispatchQueue(
          label: "stress.wait", attributes: thread % 2 == 0 ? [] : .concurrent)
        for _ in 0..<rounds {
          let ran = Unguarded(0)
          let item = DispatchWorkItem { ran.value += 1 }
          queue.async(execute: item)
          item.wait()
          if ran.value != 1 { fatalError("wait() returned before the item ran") }
        }
      })
  }
}
