// Work that is submitted with a delay: contract row Q21.
import GrandCentral
import TestSupport
import Testing

@Suite("Work for later") struct AsyncAfterTests {
  private let queue = DispatchQueue(label: "later")

  @Test func `never starts before its deadline`() {
    let done = Latch(20)
    let early = Counter()
    for step in 1...20 {
      let deadline = DispatchTime.now() + .milliseconds(step)
      queue.asyncAfter(deadline: deadline) {
        if DispatchTime.now() < deadline { early.add(1) }
        done.open()
      }
    }
    #expect(done.wait())
    #expect(early.value == 0)
  }

  @Test func `follows the wall clock where the deadline does`() {
    let done = Latch()
    let early = Counter()
    let deadline = DispatchWallTime.now() + .milliseconds(20)
    queue.asyncAfter(wallDeadline: deadline) {
      if DispatchWallTime.now() < deadline { early.add(1) }
      done.open()
    }
    #expect(done.wait())
    #expect(early.value == 0)
  }

  @Test func `whose deadline has passed is submitted at once, in order`() {
    let log = Log<Int>()
    queue.suspend()
    queue.async { log.append(1) }
    queue.asyncAfter(deadline: .now()) { log.append(2) }
    queue.asyncAfter(deadline: .now() - .seconds(5)) { log.append(3) }
    queue.asyncAfter(wallDeadline: .now() - .seconds(5)) { log.append(4) }
    queue.resume()
    queue.sync {}
    #expect(log.all == [1, 2, 3, 4])
  }

  @Test func `for the distant future never runs, and is released`() {
    weak var seen: Token?
    do {
      let token = Token()
      seen = token
      queue.asyncAfter(deadline: .distantFuture) { _ = token }
      queue.asyncAfter(wallDeadline: .distantFuture) { _ = token }
    }
    #expect(seen == nil)
  }

  @Test func `as an item that is cancelled meanwhile runs empty and ends`() {
    let ran = Counter()
    let item = DispatchWorkItem { ran.add(1) }
    let done = Latch()
    item.notify(queue: queue) { done.open() }
    queue.asyncAfter(deadline: .now() + .milliseconds(5), execute: item)
    item.cancel()
    #expect(done.wait())
    #expect(ran.value == 0)
  }

  @Test func `comes in the order of its deadlines, not of its submission`() {
    // A round counts only if its last submission came before its first deadline.
    let wasInTime = eventually {
      let log = Log<Int>()
      let done = Latch(3)
      let start = DispatchTime.now()
      for place in [3, 1, 2] {
        queue.asyncAfter(deadline: start + .milliseconds(100 * place)) {
          log.append(place)
          done.open()
        }
      }
      let isInTime = DispatchTime.now() < start + .milliseconds(100)
      #expect(done.wait())
      if isInTime { #expect(log.all == [1, 2, 3]) }
      return isInTime
    }
    #expect(wasInTime)
  }

  @Test func `in large numbers all runs, once each`() {
    let count = 20_000
    let done = Latch(count)
    let ran = Counter()
    var random = SeededGenerator(for: "asyncAfter")
    let concurrent = DispatchQueue(label: "later.many", attributes: .concurrent)
    for _ in 0..<count {
      let delay = Int.random(in: 0...50_000, using: &random)
      concurrent.asyncAfter(deadline: .now() + .microseconds(delay)) {
        ran.add(1)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(ran.value == count)
  }
}

private final class Token: Sendable {}
