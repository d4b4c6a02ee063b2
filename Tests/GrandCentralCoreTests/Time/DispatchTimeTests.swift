import GrandCentral
import Testing

@testable import GrandCentralCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("A point in time") struct DispatchTimeTests {
  static let aSecond: UInt64 = 1_000_000_000
  let start = DispatchTime(uptimeNanoseconds: 5 * DispatchTimeTests.aSecond)

  @Test func `keeps the nanoseconds it was made with`() {
    #expect(start.uptimeNanoseconds == 5_000_000_000)
    #expect(start.rawValue == 5_000_000_000)
    #expect(DispatchTime(uptimeNanoseconds: 0).uptimeNanoseconds == 0)
  }

  @Test func `moves with the clock`() {
    let first = DispatchTime.now()
    let second = DispatchTime.now()
    #expect(first <= second)
    #expect(first > DispatchTime(uptimeNanoseconds: 1))
  }

  @Test(
    arguments: [
      (.seconds(2), 7_000_000_000), (.milliseconds(-5_000), 1), (.microseconds(3), 5_000_003_000),
      (.nanoseconds(-1), 4_999_999_999), (.seconds(-6), 1), (.seconds(.min), 1),
      (.seconds(.max), .max), (.nanoseconds(.max), .max), (.never, .max),
    ] as [(DispatchTimeInterval, UInt64)])
  func `adds an interval and saturates`(interval: DispatchTimeInterval, expected: UInt64) {
    #expect((start + interval).uptimeNanoseconds == expected)
    #expect(start.advanced(by: interval).uptimeNanoseconds == expected)
  }

  @Test(
    arguments: [
      (.seconds(2), 3_000_000_000), (.seconds(6), 1), (.seconds(-1), 6_000_000_000),
      (.seconds(.min), .max), (.nanoseconds(.min), .max), (.seconds(.max), 1), (.never, 1),
    ] as [(DispatchTimeInterval, UInt64)])
  func `subtracts an interval and saturates`(interval: DispatchTimeInterval, expected: UInt64) {
    #expect((start - interval).uptimeNanoseconds == expected)
  }

  @Test(
    arguments: [
      (1.5, 6_500_000_000), (-1.5, 3_500_000_000), (1e-10, 5_000_000_000), (-100, 1),
      (.nan, .max), (.infinity, .max), (-.infinity, 1), (1e300, .max), (-1e300, 1), (9.3e9, .max),
    ] as [(Double, UInt64)])
  func `adds seconds and saturates`(seconds: Double, expected: UInt64) {
    #expect((start + seconds).uptimeNanoseconds == expected)
  }

  @Test(
    arguments: [
      (1.5, 3_500_000_000), (.nan, .max), (.infinity, 1), (-.infinity, .max), (-1e300, .max),
    ] as [(Double, UInt64)])
  func `subtracts seconds and saturates`(seconds: Double, expected: UInt64) {
    #expect((start - seconds).uptimeNanoseconds == expected)
  }

  @Test func `stays in the distant future once there`() {
    let future = DispatchTime.distantFuture
    #expect(future - .seconds(1) == future)
    #expect(future + .seconds(-1) == future)
    #expect(future - 1.0 == future)
    #expect(start < future)
    #expect(!(future < start))
  }

  @Test(arguments: [1 << 62, (1 << 62) + 5, 1 << 63, .max - 1, .max] as [UInt64])
  func `is the distant future beyond what an uptime can be`(nanoseconds: UInt64) {
    #expect(DispatchTime(uptimeNanoseconds: nanoseconds) == .distantFuture)
  }

  @Test func `never becomes a word of another clock by a sum`() {
    let late = DispatchTime(uptimeNanoseconds: 1 << 62 - 1)
    #expect(late + .nanoseconds(1) == .distantFuture)
    #expect(late - .nanoseconds(1) < late)
  }

  @Test func `that is zero counts from the time of the sum`() {
    let before = DispatchTime.now()
    let sum = DispatchTime(uptimeNanoseconds: 0) + .seconds(1)
    #expect(sum >= before + .seconds(1))
    #expect(sum <= DispatchTime.now() + .seconds(1))
  }

  @Test func `knows its distance to another`() {
    #expect(start.distance(to: start + .seconds(3)) == .seconds(3))
    #expect((start + .seconds(3)).distance(to: start) == .seconds(-3))
    #expect(start.distance(to: .distantFuture) == .never)
    #expect(start.advanced(by: start.distance(to: .distantFuture)) == .distantFuture)
  }

  @Test func `takes a duration without making sums ambiguous`() {
    let inferred = start + .seconds(1)
    #expect(inferred.uptimeNanoseconds == 6_000_000_000)
    #expect((start + .seconds(1.5)).uptimeNanoseconds == 6_500_000_000)
    let duration: Duration = .milliseconds(250)
    #expect((start + duration).uptimeNanoseconds == 5_250_000_000)
    #expect((start - duration).uptimeNanoseconds == 4_750_000_000)
    #expect((start + 1).uptimeNanoseconds == 6_000_000_000)
    let deadline: DispatchTime = .now() + .milliseconds(1)
    #expect(deadline > start || deadline <= start)
  }
}

@Suite("A point on the wall clock") struct DispatchWallTimeTests {
  let start = DispatchWallTime(timespec: timespec(tv_sec: 1_000, tv_nsec: 5))

  @Test func `is the negated count of nanoseconds`() {
    #expect(start.rawValue == 0 &- 1_000_000_000_005)
    #expect(DispatchWallTime.distantFuture.rawValue == .max)
  }

  @Test func `compares by date although its word falls`() {
    #expect(start < start + .nanoseconds(1))
    #expect(start > start - .nanoseconds(1))
    #expect(start < .distantFuture)
    #expect(!(DispatchWallTime.distantFuture < start))
    #expect(start < DispatchWallTime.now())
  }

  @Test(
    arguments: [
      (0, 0, 3), (0, 3, 3), (-5, 0, 3), (.min, 0, 3), (1, 2_000_000_000, 3_000_000_000),
      (10, -5, 9_999_999_995), (4_611_686_018, 427_387_904, 1 << 62),
    ] as [(Int, Int, UInt64)])
  func `is made of a timespec and never before 1970`(
    seconds: Int, nanoseconds: Int, expected: UInt64
  ) {
    let time = DispatchWallTime(timespec: timespec(tv_sec: seconds, tv_nsec: nanoseconds))
    #expect(time.nanoseconds == expected)
  }

  @Test(arguments: [(4_611_686_018, 427_387_905), (1 << 40, 0), (Int.max, 0)])
  func `is the distant future beyond what its word can hold`(seconds: Int, nanoseconds: Int) {
    let time = DispatchWallTime(timespec: timespec(tv_sec: seconds, tv_nsec: nanoseconds))
    #expect(time == .distantFuture)
  }

  @Test func `adds and subtracts, and saturates`() {
    #expect((start + .seconds(1)).nanoseconds == 1_001_000_000_005)
    #expect((start - .seconds(1)).nanoseconds == 999_000_000_005)
    #expect((start + 0.5).nanoseconds == 1_000_500_000_005)
    #expect((start - 0.5).nanoseconds == 999_500_000_005)
    #expect((start - .seconds(2_000)).nanoseconds == 3)
    #expect((start - Double.infinity).nanoseconds == 3)
    #expect(start + Double.nan == .distantFuture)
    #expect(start + .never == .distantFuture)
    #expect((start - .never).nanoseconds == 3)
    #expect(start + .seconds(.max) == .distantFuture)
    #expect(start - .seconds(.min) == .distantFuture)
    #expect(DispatchWallTime.distantFuture - .seconds(1) == .distantFuture)
    #expect(start + Duration.seconds(2) == start + .seconds(2))
    #expect(start - Duration.seconds(2) == start - .seconds(2))
  }

  @Test func `knows its distance to another`() {
    #expect(start.distance(to: start + .seconds(3)) == .seconds(3))
    #expect(start.distance(to: start - .seconds(3)) == .seconds(-3))
    #expect(start.distance(to: .distantFuture) == .never)
  }
}

@Suite("A length of time") struct DispatchTimeIntervalTests {
  @Test func `equals the same length in other units`() {
    #expect(DispatchTimeInterval.seconds(1) == .milliseconds(1_000))
    #expect(DispatchTimeInterval.milliseconds(1) == .microseconds(1_000))
    #expect(DispatchTimeInterval.microseconds(-1) == .nanoseconds(-1_000))
    #expect(DispatchTimeInterval.seconds(1) != .milliseconds(1_001))
    #expect(DispatchTimeInterval.never == .never)
    #expect(DispatchTimeInterval.never != .nanoseconds(.max))
    #expect(DispatchTimeInterval.seconds(.max) != .never)
    #expect(DispatchTimeInterval.seconds(.max) == .milliseconds(.max))
  }

  @Test(
    arguments: [
      (.seconds(2), 2_000_000_000), (.nanoseconds(7), 7), (.seconds(-2), -2_000_000_000),
      (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
      (Duration(secondsComponent: 0, attosecondsComponent: -1), 0),
      (Duration(secondsComponent: 1, attosecondsComponent: 1_000_000_001), 1_000_000_002),
    ] as [(Duration, Int)])
  func `is made of a duration, rounded up`(duration: Duration, nanoseconds: Int) {
    #expect(DispatchTimeInterval(duration) == .nanoseconds(nanoseconds))
  }

  @Test func `is made of any duration`() {
    #expect(DispatchTimeInterval(Duration.seconds(Int64.max)).saturatedNanoseconds == .max)
    #expect(DispatchTimeInterval(Duration.seconds(Int64.min)).saturatedNanoseconds == .min)
    guard case .seconds(10_000_000_001) = DispatchTimeInterval(.seconds(10_000_000_000.5)) else {
      Issue.record("kept to the second, rounded up")
      return
    }
  }
}

@Suite("A timeout") struct TimeLimitTests {
  @Test func `reads every encoding of the C API`() {
    #expect(TimeLimit(word: 0) == .now)
    #expect(TimeLimit(word: .max) == .forever)
    #expect(TimeLimit(word: .max - 1) == .now)
    #expect(TimeLimit(word: 5) == .at(.monotonic(nanoseconds: 5)))
    #expect(TimeLimit(word: 0 &- 7) == .at(.wall(nanoseconds: 7)))
    // A time just after the start of the machine: see BootTimeTests.
    #expect(TimeLimit(word: 1 << 63 | 9).hasPassed)
  }

  @Test func `knows whether it has passed`() {
    #expect(TimeLimit.now.hasPassed)
    #expect(!TimeLimit.forever.hasPassed)
    #expect(DispatchTime.now().limit.hasPassed)
    #expect(DispatchWallTime.now().limit.hasPassed)
    #expect(!(DispatchTime.now() + 100).limit.hasPassed)
    #expect(!(DispatchWallTime.now() + 100).limit.hasPassed)
    #expect(DispatchWallTime(timespec: timespec()).limit.hasPassed)
  }
}
