// Times and Swift's Duration: contract row M1.
import GrandCentral
import TestSupport
import Testing

@Suite("Swift's Duration") struct DurationTests {
  @Test func `can be added to a time`() {
    let start = DispatchTime(uptimeNanoseconds: 5_000_000_000)
    let length = Duration.milliseconds(1500)
    #expect((start + length).uptimeNanoseconds == 6_500_000_000)
    #expect((start - length).uptimeNanoseconds == 3_500_000_000)
    let wall = DispatchWallTime.now()
    #expect(wall + length == wall + .milliseconds(1500))
    #expect(wall - length == wall - .milliseconds(1500))
  }

  @Test func `saturates`() {
    #expect(DispatchTime.now() + Duration.seconds(Int64.max) == .distantFuture)
    #expect(DispatchWallTime.now() + Duration.seconds(Int64.max) == .distantFuture)
  }

  @Test func `leaves the usual expressions unambiguous`() {
    // This must compile: .seconds(1) stays a DispatchTimeInterval.
    let soon = DispatchTime.now() + .seconds(1)
    let sooner: DispatchTime = .now() + .milliseconds(10)
    let wall = DispatchWallTime.now() + .seconds(1)
    let half = DispatchTime.now() + 0.5
    #expect(sooner < soon && half < soon + .seconds(1) && wall < .distantFuture)
    let semaphore = DispatchSemaphore(value: 0)
    #expect(semaphore.wait(timeout: .now() + .microseconds(1)) == .timedOut)
  }
}
