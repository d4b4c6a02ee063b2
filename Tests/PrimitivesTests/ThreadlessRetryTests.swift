// Retries by sleeping threads while no thread can be made. Any thread that sleeps on a word takes
// part in them, so a test that forbids retries runs in a process of its own.
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

private final class Retrier: ThreadlessRetrying {
  let calls = Atomic<Int>(0)
  func retry() { calls.wrappingAdd(1, ordering: .relaxed) }
  var isCalled: Bool { calls.load(ordering: .relaxed) > 0 }
}

@Suite("A threadless retry") struct ThreadlessRetryTests {
  @Test func `runs on a thread that sleeps on a word`() {
    let retrier = Retrier()
    ThreadlessRetry.begin(retrier)
    let word = SharedWord<UInt32>(0)
    let sleeper = TestThread("sleeper") {
      while word.atomic.load(ordering: .acquiring) == 0 { _ = futexWait(word.atomic, while: 0) }
    }
    #expect(eventually { retrier.calls.load(ordering: .relaxed) >= 3 })
    word.atomic.store(1, ordering: .releasing)
    futexWake(word.atomic)
    #expect(sleeper.join())
    ThreadlessRetry.end(retrier)
  }

  @Test(arguments: [false, true])
  func `makes no deadline come early`(isWall: Bool) {
    let retrier = Retrier()
    ThreadlessRetry.begin(retrier)
    defer { ThreadlessRetry.end(retrier) }
    let word = SharedWord<UInt32>(0)
    func now() -> UInt64 { isWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds() }
    // A thread that gets no CPU for that long does not sleep, so the next wait is longer.
    var nanoseconds: UInt64 = 35_000_000
    repeat {
      let end = now() + nanoseconds
      let deadline = isWall ? Deadline.wall(nanoseconds: end) : .monotonic(nanoseconds: end)
      while futexWait(word.atomic, while: 0, until: deadline) != .timedOut {}
      #expect(now() >= end)
      nanoseconds *= 2
    } while !retrier.isCalled && nanoseconds < UInt64(deadlineSeconds) * 1_000_000_000
    #expect(retrier.isCalled)
  }

  @Test func `is registered once however often it is begun`() async {
    await #expect(processExitsWith: .success) {
      let retrier = Retrier()
      ThreadlessRetry.begin(retrier)
      ThreadlessRetry.begin(retrier)
      let isRegistered = ThreadlessRetry.hasRetriers
      ThreadlessRetry.end(retrier)
      let isOver = !ThreadlessRetry.hasRetriers
      ThreadlessRetry.end(retrier)
      exit(isRegistered && isOver && !ThreadlessRetry.hasRetriers ? 0 : 1)
    }
  }

  @Test func `does not run on a thread that waits for a lock`() async {
    await #expect(processExitsWith: .success) {
      let retrier = Retrier()
      ThreadlessRetry.begin(retrier)
      let mutual = SharedLock()
      mutual.lock.lock()
      let number = Box(UInt32(0))
      let waiter = TestThread("waiter") {
        number.value = UInt32(threadID())
        mutual.lock.withLock {}
      }
      var isRight = eventually { number.value != 0 && isAsleep(number.value) }
      // Waits for several retry periods; no retry may happen in them.
      let word = SharedWord<UInt32>(0)
      let end = Clock.monotonicNanoseconds() + 50_000_000
      ThreadlessRetry.end(retrier)
      while futexWait(word.atomic, while: 0, until: .monotonic(nanoseconds: end)) != .timedOut {}
      isRight = isRight && !retrier.isCalled
      mutual.lock.unlock()
      exit(isRight && waiter.join() ? 0 : 1)
    }
  }
}
