// The slow half of a wait with a deadline, entered as the inlined half enters it when other threads
// change the value in between.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A semaphore's wait with a deadline") struct SemaphoreSlowWaitTests {
  @Test func `takes the permit that came after it had seen none`() {
    let semaphore = DispatchSemaphore(value: 1)
    #expect(
      semaphore.awaitPermit(DispatchTime.distantFuture.rawValue, isRegistered: false) == .success)
    #expect(semaphore.wait(timeout: .now()) == .timedOut, "the permit is gone")
    semaphore.signal()
  }

  @Test(arguments: [0, 100])
  func `waits for its turn when the permit it had seen was taken by another`(spinLimit: Int) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: spinLimit)
    let results = Log<DispatchTimeoutResult>()
    let waiter = TestThread("semaphore") {
      // The state that the inlined half leaves: registered, without a permit.
      semaphore.value.wrappingSubtract(1, ordering: .acquiring)
      results.append(
        semaphore.awaitPermit(DispatchTime.distantFuture.rawValue, isRegistered: true))
    }
    #expect(eventually { semaphore.value.load(ordering: .relaxed) == -1 })
    #expect(semaphore.signal() == 1)
    #expect(waiter.join())
    #expect(results.all == [.success])
    #expect(semaphore.value.load(ordering: .relaxed) == 0)
  }

  @Test(arguments: [0, 100])
  func `takes the grant that was made while it registered`(spinLimit: Int) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: spinLimit)
    semaphore.value.wrappingSubtract(1, ordering: .acquiring)
    #expect(semaphore.signal() == 1)
    let forever = DispatchTime.distantFuture.rawValue
    #expect(semaphore.awaitPermit(forever, isRegistered: true) == .success)
    #expect(semaphore.wait(timeout: .now()) == .timedOut, "the grant is gone")
  }

  /// A signal adds to the value, then grants the permit. The waiter's deadline passes in between.
  @Test func `ends with a permit once a signal has counted it`() {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let results = Log<DispatchTimeoutResult>()
    let waiterID = Box<UInt32>(0)
    semaphore.value.wrappingSubtract(1, ordering: .acquiring)
    semaphore.value.wrappingAdd(1, ordering: .releasing)
    let waiter = TestThread("semaphore") {
      waiterID.value = currentThread().pointee.tid
      results.append(semaphore.awaitPermit(1, isRegistered: true))
    }
    #expect(eventually { waiterID.value != 0 && Process.threadState(waiterID.value) == "S" })
    #expect(results.count == 0)
    #expect(semaphore.grant() == 1)
    #expect(waiter.join())
    #expect(results.all == [.success])
  }

  /// The words 0 and `.max - 1` mean now, each on its clock; the other two words are in the past.
  @Test(arguments: [0, .max - 1, 1, .max - 7] as [dispatch_time_t])
  func `takes its registration back when there is no time to wait`(word: dispatch_time_t) {
    let semaphore = DispatchSemaphore(value: 0)
    let results = Log<DispatchTimeoutResult>()
    let waiter = TestThread("semaphore") {
      semaphore.value.wrappingSubtract(1, ordering: .acquiring)
      results.append(semaphore.awaitPermit(word, isRegistered: true))
    }
    let hasEnded = waiter.join()
    #expect(hasEnded, "sleeps until a signal")
    if !hasEnded {
      semaphore.signal()
      _ = waiter.join()
    }
    #expect(results.all == [.timedOut])
    #expect(semaphore.value.load(ordering: .relaxed) == 0)
  }
}
