// Timers: contract row S6. A timer may be late in these tests, but never early.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A timer") struct TimerSourceTests {
  private let queue = DispatchQueue(label: "timers")

  /// Waits for another timer of the queue, so that one which fires once more has time to.
  private func waitForLaterTimer() -> Bool {
    let later = Latch()
    queue.asyncAfter(deadline: .now() + .milliseconds(20)) { later.open() }
    return later.wait()
  }

  @Test func `fires once, not early`() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let log = Log<Bool>()
    let deadline = DispatchTime.now() + .milliseconds(10)
    timer.setEventHandler { log.append(DispatchTime.now() >= deadline && timer.data == 1) }
    timer.schedule(deadline: deadline)
    timer.activate()
    #expect(log.waitForCount(1))
    #expect(waitForLaterTimer())
    #expect(log.all == [true])
    timer.cancel()
  }

  @Test func `repeats on the grid of its first deadline`() {
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    let start = DispatchTime.now()
    let sum = Box(0)
    let early = Counter()
    let done = Latch(20)
    timer.setEventHandler {
      sum.value += Int(timer.data)
      // The nth firing is due at start + n × 2 ms.
      let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
      if elapsed < UInt64(sum.value) * 2_000_000 { early.add() }
      done.open()
    }
    timer.schedule(deadline: start + .milliseconds(2), repeating: .milliseconds(2))
    timer.activate()
    #expect(done.wait())
    #expect(early.value == 0)
    timer.cancel()
  }

  @Test func `reports how many times it fired while it was suspended`() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let log = Log<UInt>()
    timer.setEventHandler { log.append(timer.data) }
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    timer.suspend()
    timer.activate()
    #expect(waitForLaterTimer())
    #expect(log.count == 0)
    timer.resume()
    #expect(log.waitForCount(1))
    #expect((log.all.first ?? 0) >= 19)
    timer.cancel()
  }

  @Test func `fires at once for a time that has passed, and never for the distant future`() {
    let past = DispatchSource.makeTimerSource(queue: queue)
    let future = DispatchSource.makeTimerSource(queue: queue)
    let fired = Latch()
    let never = Counter()
    past.setEventHandler { fired.open() }
    past.schedule(deadline: .now() - .seconds(10))
    future.setEventHandler { never.add() }
    future.schedule(deadline: .distantFuture)
    past.activate()
    future.activate()
    #expect(fired.wait())
    #expect(waitForLaterTimer())
    #expect(never.value == 0)
    past.cancel()
    future.cancel()
  }

  @Test func `that is rescheduled forgets its old schedule`() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let log = Log<UInt64>()
    timer.setEventHandler { log.append(DispatchTime.now().uptimeNanoseconds) }
    timer.schedule(deadline: .now() + .seconds(3600), repeating: .milliseconds(1))
    timer.activate()
    queue.sync {}
    let soon = DispatchTime.now() + .milliseconds(5)
    timer.schedule(deadline: soon)
    #expect(log.waitForCount(1))
    #expect((log.all.first ?? 0) >= soon.uptimeNanoseconds)
    #expect(waitForLaterTimer())
    #expect(log.count == 1, "the old interval counts")
    timer.cancel()
  }

  @Test func `is rescheduled from its own handler`() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let done = Latch(5)
    timer.setEventHandler {
      done.open()
      if !done.isOpen { timer.schedule(deadline: .now() + .milliseconds(1)) }
    }
    timer.schedule(deadline: .now())
    timer.activate()
    #expect(done.wait())
    timer.cancel()
  }

  // The next two tests run in processes of their own, without other timers.

  @Test func `that is alone fires when it is due, at any leeway`() async {
    _ = await #expect(processExitsWith: .success) {
      let fired = Latch(3)
      let deadline = DispatchTime.now() + .milliseconds(1)
      let timer = DispatchSource.makeTimerSource()
      timer.setEventHandler { fired.open() }
      // The other timer is due much later.
      let later = DispatchSource.makeTimerSource()
      later.schedule(deadline: deadline + .seconds(7200), leeway: .seconds(3600))
      later.activate()
      timer.schedule(deadline: deadline, repeating: .milliseconds(1), leeway: .seconds(3600))
      timer.activate()
      exit(fired.wait() ? 0 : 1)
    }
  }

  @Test func `waits for others whose times fall into its leeway`() async {
    _ = await #expect(processExitsWith: .success) {
      let queue = DispatchQueue(label: "timers")
      let (armed, fired) = (Latch(4), Latch(4))
      let early = Counter()
      let start = DispatchTime.now()
      let last = start + .milliseconds(100)
      // From the latest to the earliest, so that each timer finds another timer in its window.
      let timers = [(100, 0), (60, 3_600_000), (30, 60_000), (1, 1_000)].map {
        (delay, leeway) -> any DispatchSourceTimer in
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setRegistrationHandler { armed.open() }
        timer.setEventHandler {
          if DispatchTime.now() < last { early.add() }
          fired.open()
        }
        timer.schedule(
          deadline: start + .milliseconds(delay), leeway: .milliseconds(leeway))
        timer.activate()
        return timer
      }
      let isDone = armed.wait() && fired.wait()
      withExtendedLifetime(timers) {}
      exit(isDone && early.value == 0 ? 0 : 1)
    }
  }

  @Test func `follows the wall clock where its deadline does`() {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let log = Log<Bool>()
    let deadline = DispatchWallTime.now() + .milliseconds(10)
    timer.setEventHandler { log.append(DispatchWallTime.now() >= deadline) }
    timer.schedule(wallDeadline: deadline, repeating: 0.001)
    timer.activate()
    #expect(log.waitForCount(3))
    #expect(log.all.allSatisfy { $0 })
    timer.cancel()
  }

  @Test func `reports nothing once it is cancelled, in storms of both`() {
    var random = SeededGenerator(for: "timer storm")
    for _ in 0..<stressed(300) {
      let timer = DispatchSource.makeTimerSource(queue: .global())
      let isOver = Box(false)
      let late = Counter()
      let done = Latch()
      timer.setEventHandler { if isOver.value { late.add() } }
      timer.setCancelHandler {
        isOver.value = true
        done.open()
      }
      timer.schedule(
        deadline: .now(), repeating: .microseconds(Int.random(in: 1...50, using: &random)))
      timer.activate()
      let canceller = TestThread("canceller") {
        timer.schedule(deadline: .now(), repeating: .microseconds(10))
        timer.cancel()
      }
      timer.suspend()
      timer.resume()
      #expect(canceller.join() && done.wait())
      #expect(late.value == 0)
    }
  }
}
