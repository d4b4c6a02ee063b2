// Times and intervals: contract row M1.
import GrandCentral
import TestSupport
import Testing

@Suite("DispatchTime") struct TimeTests {
  @Test func `now never goes back`() {
    var last = DispatchTime.now()
    for _ in 0..<10_000 {
      let next = DispatchTime.now()
      #expect(next >= last)
      last = next
    }
  }

  @Test func `counts uptime in nanoseconds`() {
    let before = monotonicSeconds()
    let now = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
    let after = monotonicSeconds()
    #expect(before <= now && now <= after)
    #expect(DispatchTime(uptimeNanoseconds: 123_456).uptimeNanoseconds == 123_456)
  }

  @Test func `adds and subtracts intervals`() {
    let start = DispatchTime(uptimeNanoseconds: 10_000_000_000)
    let cases: [(DispatchTimeInterval, UInt64)] = [
      (.seconds(2), 2_000_000_000), (.milliseconds(3), 3_000_000), (.microseconds(4), 4000),
      (.nanoseconds(5), 5), (.seconds(0), 0),
    ]
    for (interval, nanoseconds) in cases {
      #expect((start + interval).uptimeNanoseconds == 10_000_000_000 + nanoseconds)
      #expect((start - interval).uptimeNanoseconds == 10_000_000_000 - nanoseconds)
    }
    #expect((start + .seconds(-1)).uptimeNanoseconds == 9_000_000_000)
  }

  @Test func `adds and subtracts seconds`() {
    let start = DispatchTime(uptimeNanoseconds: 10_000_000_000)
    #expect((start + 0.5).uptimeNanoseconds == 10_500_000_000)
    #expect((start - 0.25).uptimeNanoseconds == 9_750_000_000)
    #expect((start + 1).uptimeNanoseconds == 11_000_000_000)
  }

  @Test func `saturates instead of overflowing`() {
    let now = DispatchTime.now()
    #expect(now + .never == .distantFuture)
    #expect(now + .seconds(.max) == .distantFuture)
    #expect(now + .nanoseconds(.max) == .distantFuture)
    #expect(now + Double.infinity == .distantFuture)
    #expect(now + 1e300 == .distantFuture)
    #expect(DispatchTime.distantFuture + .seconds(1) == .distantFuture)
    #expect(DispatchTime.distantFuture - .seconds(1) == .distantFuture)
    // A time before the clock's start becomes the earliest time.
    #expect(now - .seconds(.max) < now)
    #expect(now + .seconds(.min) < now)
    #expect(now - 1e300 < now)
  }

  @Test func `compares`() {
    let early = DispatchTime(uptimeNanoseconds: 1000)
    let late = DispatchTime(uptimeNanoseconds: 2000)
    #expect(early < late && late > early && early != late)
    #expect(early == DispatchTime(uptimeNanoseconds: 1000))
    #expect(late < .distantFuture)
    #expect(.now() < DispatchTime.distantFuture)
    #expect(max(early, late) == late)
  }
}

@Suite("DispatchWallTime") struct WallTimeTests {
  @Test func `adds intervals and seconds`() {
    let start = DispatchWallTime.now()
    for interval: DispatchTimeInterval in [
      .seconds(2), .milliseconds(3), .microseconds(4), .nanoseconds(1000),
    ] {
      #expect(start < start + interval)
      #expect(start > start - interval)
      #expect(start + interval - interval == start)
    }
    #expect(start + 1.5 > start + .seconds(1))
    #expect(start - 1.5 < start - .seconds(1))
  }

  @Test func `is made from a timespec`() {
    let base = DispatchWallTime(timespec: .init(tv_sec: 1_000_000, tv_nsec: 500))
    let same = DispatchWallTime(timespec: .init(tv_sec: 1_000_000, tv_nsec: 500))
    let later = DispatchWallTime(timespec: .init(tv_sec: 1_000_001, tv_nsec: 500))
    #expect(base == same)
    #expect(base < later)
    #expect(base + .seconds(1) == later)
    #expect(base < .now())
  }

  @Test func `saturates instead of overflowing`() {
    let now = DispatchWallTime.now()
    #expect(now + .never == .distantFuture)
    #expect(now + .seconds(.max) == .distantFuture)
    #expect(now + Double.infinity == .distantFuture)
    #expect(DispatchWallTime.distantFuture + .seconds(1) == .distantFuture)
    #expect(now < .distantFuture)
    #expect(!(DispatchWallTime.distantFuture < now))
    #expect(!(DispatchWallTime.distantFuture < .distantFuture))
  }
}

@Suite("DispatchTimeInterval") struct TimeIntervalTests {
  @Test func `compares by length, not by unit`() {
    #expect(DispatchTimeInterval.seconds(1) == .milliseconds(1000))
    #expect(DispatchTimeInterval.milliseconds(1) == .microseconds(1000))
    #expect(DispatchTimeInterval.microseconds(1) == .nanoseconds(1000))
    #expect(DispatchTimeInterval.seconds(1) != .milliseconds(1001))
    #expect(DispatchTimeInterval.never == .never)
    #expect(DispatchTimeInterval.never != .seconds(.max))
  }
}
