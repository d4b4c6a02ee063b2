// Semaphores: contract row G2.
import GrandCentral
import TestSupport
import Testing

@Suite("A semaphore") struct SemaphoreTests {
  @Test func `admits as many threads as its value`() {
    let semaphore = DispatchSemaphore(value: 2)
    #expect(semaphore.wait(timeout: .now()) == .success)
    #expect(semaphore.wait(timeout: .now()) == .success)
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
    semaphore.signal()
    #expect(semaphore.wait(timeout: .now()) == .success)
    semaphore.signal()
    semaphore.signal()
  }

  @Test func `reports whether signal woke a thread`() {
    let semaphore = DispatchSemaphore(value: 0)
    #expect(semaphore.signal() == 0)
    semaphore.wait()
    let woken = Latch()
    let thread = TestThread("sleeper") {
      semaphore.wait()
      woken.open()
    }
    // An early signal returns 0, and the thread then takes the permit without sleeping. Both
    // results are correct, so the test checks only that the permit is used once.
    let wokeSomeone = semaphore.signal() != 0
    #expect(woken.wait())
    #expect(thread.join())
    if !wokeSomeone { #expect(semaphore.wait(timeout: .now()) == .timedOut) }
  }

  @Test func `returns non-zero from signal when a thread sleeps`() {
    let semaphore = DispatchSemaphore(value: 0)
    let id = Box(0)
    let thread = TestThread("sleeper") {
      id.value = threadID()
      semaphore.wait()
    }
    // The thread must sleep before the signal, so the test waits until /proc shows it as sleeping.
    let isAsleep = eventually { id.value != 0 && isSleeping(id.value) }
    #expect(isAsleep)
    #expect(semaphore.signal() != 0)
    #expect(thread.join())
  }

  @Test func `ends a wait at its deadline`() {
    let semaphore = DispatchSemaphore(value: 0)
    let start = monotonicSeconds()
    #expect(semaphore.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(monotonicSeconds() - start >= 0.05)
    let wallStart = monotonicSeconds()
    #expect(semaphore.wait(wallTimeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(monotonicSeconds() - wallStart >= 0.04)
    // A wait that timed out keeps no permit.
    semaphore.signal()
    #expect(semaphore.wait(timeout: .now()) == .success)
  }

  @Test func `accepts deadlines in the past and for ever`() {
    let semaphore = DispatchSemaphore(value: 1)
    #expect(semaphore.wait(timeout: DispatchTime(uptimeNanoseconds: 1)) == .success)
    #expect(semaphore.wait(timeout: DispatchTime(uptimeNanoseconds: 1)) == .timedOut)
    #expect(semaphore.wait(wallTimeout: .now() - .seconds(10)) == .timedOut)
    semaphore.signal()
    #expect(semaphore.wait(timeout: .distantFuture) == .success)
    semaphore.signal()
    #expect(semaphore.wait(wallTimeout: .distantFuture) == .success)
    semaphore.signal()
  }

  @Test func `loses no signal`() {
    let semaphore = DispatchSemaphore(value: 0)
    let passed = Counter()
    #expect(
      onThreads(4) { number in
        for _ in 0..<2000 {
          if number % 2 == 0 {
            semaphore.signal()
          } else {
            semaphore.wait()
            passed.add()
          }
        }
      })
    #expect(passed.value == 4000)
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
  }

  @Test func `loses no signal to waiters that give up`() {
    let semaphore = DispatchSemaphore(value: 0)
    let passed = Counter()
    let signals = 500
    #expect(
      onThreads(4) { number in
        for _ in 0..<signals {
          if number == 0 {
            semaphore.signal()
          } else if semaphore.wait(timeout: .now() + .microseconds(20)) == .success {
            passed.add()
          }
        }
      })
    while semaphore.wait(timeout: .now()) == .success { passed.add() }
    #expect(passed.value == signals)
  }

  @Test func `bounds how many items are inside`() {
    let semaphore = DispatchSemaphore(value: 3)
    let inside = Counter()
    let group = DispatchGroup()
    for _ in 0..<100 {
      DispatchQueue.global().async(group: group) {
        semaphore.wait()
        inside.add()
        inside.add(-1)
        semaphore.signal()
      }
    }
    group.wait()
    #expect(inside.peak <= 3)
  }

  @Test func `orders what was written before signal`() {
    let semaphore = DispatchSemaphore(value: 0)
    let value = Unguarded(0)
    let thread = TestThread("writer") {
      value.value = 42
      semaphore.signal()
    }
    semaphore.wait()
    #expect(value.value == 42)
    #expect(thread.join())
  }

  @Test func `may be released above its first value`() {
    do {
      let semaphore = DispatchSemaphore(value: 1)
      semaphore.signal()
    }
    do {
      let semaphore = DispatchSemaphore(value: 0)
      semaphore.signal()
    }
    _ = DispatchSemaphore(value: Int(Int32.max))
  }

  @Test func `passes a baton back and forth`() {
    let ping = DispatchSemaphore(value: 0)
    let pong = DispatchSemaphore(value: 0)
    let other = TestThread("pong") {
      for _ in 0..<2000 {
        ping.wait()
        pong.signal()
      }
    }
    for _ in 0..<2000 {
      ping.signal()
      pong.wait()
    }
    #expect(other.join())
  }
}
