// Retries by sleeping threads while no thread can be made. Any thread that sleeps on a word takes
// part in them, so a test that forbids retries runs in a process of its own.
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

private final class Keeper: ThreadlessRetrying {
  let calls = Atomic<Int>(0)
  func attend() { calls.wrappingAdd(1, ordering: .relaxed) }
  var isCalled: Bool { calls.load(ordering: .relaxed) > 0 }
}

@Suite("A vigil") struct ThreadlessRetryTests {
  @Test func `is kept by a thread that sleeps on a word`() {
    let keeper = Keeper()
    ThreadlessRetry.begin(keeper)
    let word = SharedWord<UInt32>(0)
    let sleeper = TestThread("sleeper") {
      while word.atomic.load(ordering: .acquiring) == 0 { _ = futexWait(word.atomic, while: 0) }
    }
    #expect(eventually { keeper.calls.load(ordering: .relaxed) >= 3 })
    word.atomic.store(1, ordering: .releasing)
    futexWake(word.atomic)
    #expect(sleeper.join())
    ThreadlessRetry.end(keeper)
  }

  @Test(arguments: [false, true])
  func `lets no deadline come early`(isWall: Bool) {
    let keeper = Keeper()
    ThreadlessRetry.begin(keeper)
    defer { ThreadlessRetry.end(keeper) }
    let word = SharedWord<UInt32>(0)
    let now = isWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds()
    let end = now + 35_000_000
    let deadline = isWall ? Deadline.wall(nanoseconds: end) : .monotonic(nanoseconds: end)
    while futexWait(word.atomic, while: 0, until: deadline) != .timedOut {}
    #expect((isWall ? Clock.wallNanoseconds() : Clock.monotonicNanoseconds()) >= end)
    #expect(keeper.isCalled)
  }

  @Test func `is kept once however often it is begun`() async {
    await #expect(processExitsWith: .success) {
      let keeper = Keeper()
      ThreadlessRetry.begin(keeper)
      ThreadlessRetry.begin(keeper)
      let isKept = ThreadlessRetry.isKept
      ThreadlessRetry.end(keeper)
      let isOver = !ThreadlessRetry.isKept
      ThreadlessRetry.end(keeper)
      exit(isKept && isOver && !ThreadlessRetry.isKept ? 0 : 1)
    }
  }

  @Test func `is not kept by a thread that waits for a lock`() async {
    await #expect(processExitsWith: .success) {
      let keeper = Keeper()
      ThreadlessRetry.begin(keeper)
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
      ThreadlessRetry.end(keeper)
      while futexWait(word.atomic, while: 0, until: .monotonic(nanoseconds: end)) != .timedOut {}
      isRight = isRight && !keeper.isCalled
      mutual.lock.unlock()
      exit(isRight && waiter.join() ? 0 : 1)
    }
  }
}
