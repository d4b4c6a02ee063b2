import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A semaphore's state words") struct SemaphoreStateTests {
  @Test func `distinguish a permit, a waiter and an overflow`() {
    #expect(SemaphoreValue(rawValue: 1).hadPermit)
    #expect(!SemaphoreValue(rawValue: 0).hadPermit)
    #expect(!SemaphoreValue(rawValue: -1).hadPermit)
    #expect(SemaphoreValue(rawValue: 1).needsNoGrant)
    #expect(SemaphoreValue(rawValue: 0).needsNoGrant)
    #expect(SemaphoreValue(rawValue: .max / 2).needsNoGrant)
    #expect(!SemaphoreValue(rawValue: .max / 2 + 1).needsNoGrant)
    #expect(!SemaphoreValue(rawValue: .max).needsNoGrant)
    #expect(!SemaphoreValue(rawValue: -1).needsNoGrant)
    #expect(SemaphoreValue(rawValue: .max &+ 1).hasOverflowed)
    #expect(!SemaphoreValue(rawValue: 0).hasOverflowed)
    #expect(!SemaphoreValue(rawValue: -1_000_000).hasOverflowed)
    #expect(SemaphoreValue(rawValue: .max / 2 + 2).hasManyPermits)
    #expect(SemaphoreValue(rawValue: .max).hasManyPermits)
    #expect(!SemaphoreValue(rawValue: 1_000_000).hasManyPermits)
    #expect(!SemaphoreValue(rawValue: 0).hasManyPermits)
  }

  @Test func `give up a registration only if there is one`() {
    #expect(SemaphoreValue(rawValue: -2).withdrawn() == SemaphoreValue(rawValue: -1))
    #expect(SemaphoreValue(rawValue: 0).withdrawn() == nil)
    #expect(SemaphoreValue(rawValue: 1).withdrawn() == nil)
  }

  @Test func `let a thread sleep only while there is no grant`() {
    let idle = SemaphoreHandOff(rawValue: 0)
    let dozing = idle.dozed()
    #expect(dozing?.sleepers == 1)
    #expect(dozing?.grants == 0)
    let granted = SemaphoreHandOff(rawValue: SemaphoreHandOff.oneGrant)
    #expect(granted.dozed() == nil)
    #expect(granted.taken(bySleeper: false) == idle)
    #expect(idle.taken(bySleeper: false) == nil)
    let both = SemaphoreHandOff(
      rawValue: SemaphoreHandOff.oneGrant + 2 * SemaphoreHandOff.oneSleeper)
    #expect(both.taken(bySleeper: true)?.sleepers == 1)
    #expect(both.taken(bySleeper: false)?.sleepers == 2)
  }
}

@Suite("A semaphore") struct SemaphoreTests {
  @Test func `has as many permits as its initial value`() {
    let semaphore = DispatchSemaphore(value: 2)
    semaphore.wait()
    semaphore.wait()
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
    #expect(semaphore.signal() == 0)
    #expect(semaphore.wait(timeout: .now()) == .success)
    semaphore.signal()
    semaphore.signal()
  }

  @Test func `collects signals`() {
    let semaphore = DispatchSemaphore(value: 0)
    for _ in 0..<3 { #expect(semaphore.signal() == 0) }
    for _ in 0..<3 { #expect(semaphore.wait(timeout: .now()) == .success) }
    #expect(semaphore.wait(timeout: DispatchTime(uptimeNanoseconds: 0)) == .timedOut)
    #expect(semaphore.wait(timeout: DispatchTime(uptimeNanoseconds: 1)) == .timedOut)
    #expect(semaphore.wait(wallTimeout: .now()) == .timedOut)
  }

  @Test(arguments: [0, 1, 1_000])
  func `wakes a sleeper and reports it`(spinLimit: Int) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: spinLimit)
    let woken = Atomic<Int>(0)
    let boxed = SharedBox(woken)
    let thread = TestThread {
      semaphore.wait()
      boxed.value.store(1, ordering: .releasing)
    }
    #expect(eventually { semaphore.value.load(ordering: .relaxed) == -1 })
    #expect(boxed.value.load(ordering: .acquiring) == 0)
    #expect(semaphore.signal() == 1)
    #expect(thread.join())
    #expect(boxed.value.load(ordering: .acquiring) == 1)
    #expect(semaphore.signal() == 0)
    semaphore.wait()
  }

  @Test func `ends a wait at its deadline, not before, and takes nothing`() {
    let semaphore = DispatchSemaphore(value: 0)
    let deadline = DispatchTime.now() + .milliseconds(20)
    #expect(semaphore.wait(timeout: deadline) == .timedOut)
    #expect(DispatchTime.now() >= deadline)
    let date = DispatchWallTime.now() + .milliseconds(20)
    #expect(semaphore.wait(wallTimeout: date) == .timedOut)
    #expect(DispatchWallTime.now() >= date)
    #expect(semaphore.value.load(ordering: .relaxed) == 0)
    #expect(semaphore.signal() == 0)
    #expect(semaphore.wait(timeout: .distantFuture) == .success)
  }

  @Test(arguments: [0, 50])
  func `bounds how many threads are inside`(spinLimit: Int) {
    let semaphore = DispatchSemaphore(value: 2, spinLimit: spinLimit)
    let inside = SharedBox(Atomic<Int>(0))
    let most = SharedBox(Atomic<Int>(0))
    let haveEnded = onThreads(6) { _ in
      for _ in 0..<2_000 {
        semaphore.wait()
        let now = inside.value.wrappingAdd(1, ordering: .relaxed).newValue
        most.value.max(now, ordering: .relaxed)
        inside.value.wrappingSubtract(1, ordering: .relaxed)
        semaphore.signal()
      }
    }
    #expect(haveEnded)
    #expect(most.value.load(ordering: .relaxed) <= 2)
    #expect(semaphore.value.load(ordering: .relaxed) == 2)
  }

  /// Deadlines race with signals: the number of permits stays the same.
  @Test(arguments: [0, 20])
  func `neither loses nor adds permits when deadlines race with signals`(spinLimit: Int) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: spinLimit)
    let taken = SharedBox(Atomic<Int>(0))
    let given = 4_000
    let haveEnded = onThreads(6) { index in
      if index < 2 {
        for _ in 0..<given / 2 { semaphore.signal() }
      } else {
        for round in 0..<3_000 {
          let deadline = DispatchTime.now() + .microseconds((round + index) % 40)
          if semaphore.wait(timeout: deadline) == .success {
            taken.value.wrappingAdd(1, ordering: .relaxed)
          }
        }
      }
    }
    #expect(haveEnded)
    var left = 0
    while semaphore.wait(timeout: .now()) == .success { left += 1 }
    #expect(taken.value.load(ordering: .relaxed) + left == given)
    #expect(semaphore.value.load(ordering: .relaxed) == 0)
  }

  @Test func `shows a waiter what was written before the signal`() {
    let ping = DispatchSemaphore(value: 0)
    let pong = DispatchSemaphore(value: 0)
    let cell = UnsafeCell()
    let thread = TestThread {
      for _ in 0..<2_000 {
        ping.wait()
        cell.value += 1
        pong.signal()
      }
    }
    for round in 0..<2_000 {
      cell.value += 1
      ping.signal()
      pong.wait()
      #expect(cell.value == 2 * (round + 1))
    }
    #expect(thread.join())
  }

  @Test func `a negative beginning stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchSemaphore(value: -1)
    }
    #expect(says(result, "CLIENT OF GRAND CENTRAL: DispatchSemaphore(value: -1). Begin with 0"))
  }

  @Test func `destroyed in use stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let semaphore = DispatchSemaphore(value: 2)
      semaphore.waitForTest()
    }
    #expect(says(result, "destroyed while in use: it was made with 2 permits and has 1 now"))
    #expect(says(result, "Call signal() once for every wait()"))
  }

  @Test func `too many signals stop and name the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      DispatchSemaphore(value: .max).signal()
    }
    #expect(says(result, "Int.max permits. Wait first."))
  }
}

/// Lets threads share a value that cannot be copied.
final class SharedBox<Value: ~Copyable>: @unchecked Sendable {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}

/// Plain memory, for tests of visibility between threads; the thread sanitizer checks it.
final class UnsafeCell: @unchecked Sendable {
  var value = 0
}
