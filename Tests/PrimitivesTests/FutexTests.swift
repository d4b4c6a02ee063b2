import CGrandCentralLinux
import GrandCentralPrimitives
import TestSupport
import Testing

@Suite("A futex") struct FutexTests {
  @Test func `does not sleep on a word that has changed`() {
    let word = SharedWord<UInt32>(7)
    #expect(futexWait(word.atomic, while: 8) == .recheck)
    #expect(futexWait(word.atomic, while: 8, until: .past(isWall: false)) == .recheck)
  }

  @Test(arguments: [false, true])
  func `reports that its deadline has passed`(isWall: Bool) {
    let word = SharedWord<UInt32>(7)
    #expect(futexWait(word.atomic, while: 7, until: .past(isWall: isWall)) == .timedOut)
    let soon: Deadline =
      isWall
      ? .wall(nanoseconds: Clock.wallNanoseconds() + 1_000_000)
      : .monotonic(nanoseconds: Clock.monotonicNanoseconds() + 1_000_000)
    while futexWait(word.atomic, while: 7, until: soon) != .timedOut {}
    switch soon {
    case .wall(let nanoseconds): #expect(Clock.wallNanoseconds() >= nanoseconds)
    case .monotonic(let nanoseconds): #expect(Clock.monotonicNanoseconds() >= nanoseconds)
    }
  }

  @Test(arguments: [nil, false, true])
  func `ends a sleep when it is woken`(isWallDeadline: Bool?) {
    let word = SharedWord<UInt32>(0)
    let sleeper = SharedWord<UInt32>(0)
    let results = Log<FutexResult>()
    let deadline = isWallDeadline.map { Deadline.inSeconds(3600, isWall: $0) }
    let thread = TestThread("sleeper") {
      sleeper.atomic.store(gc_thread_id(), ordering: .releasing)
      while word.atomic.load(ordering: .acquiring) == 0 {
        results.append(futexWait(word.atomic, while: 0, until: deadline))
      }
    }
    #expect(eventually { Self.isAsleep(sleeper) })
    word.atomic.store(1, ordering: .releasing)
    futexWake(word.atomic)
    #expect(thread.join())
    #expect(!results.all.contains(.timedOut))
  }

  @Test func `wakes as many sleepers as requested`() {
    let word = SharedWord<UInt32>(0)
    let asleep = Log<UInt32>()
    let threads = (0..<3).map { number in
      TestThread("sleeper-\(number)") {
        asleep.append(gc_thread_id())
        while word.atomic.load(ordering: .acquiring) == 0 {
          _ = futexWait(word.atomic, while: 0)
        }
      }
    }
    #expect(asleep.waitForCount(3))
    #expect(eventually { asleep.all.allSatisfy { PrimitivesTests.isAsleep($0) } })
    word.atomic.store(1, ordering: .releasing)
    futexWake(word.atomic, count: .max)
    #expect(threads.allSatisfy { $0.join() })
  }

  @Test func `sleeps on the low half of a longer word, whatever the high half is`() {
    let word = SharedWord<UInt64>(0xffff_0000_0000_0005)
    #expect(futexWait(lowHalfOf: word.atomic, while: 0xffff_0000) == .recheck)
    #expect(
      futexWait(lowHalfOf: word.atomic, while: 5, until: .past(isWall: false)) == .timedOut)
    let sleeper = SharedWord<UInt32>(0)
    let thread = TestThread("sleeper") {
      sleeper.atomic.store(gc_thread_id(), ordering: .releasing)
      while word.atomic.load(ordering: .acquiring) & 0xff == 5 {
        _ = futexWait(lowHalfOf: word.atomic, while: 5)
      }
    }
    #expect(eventually { Self.isAsleep(sleeper) })
    word.atomic.store(0xffff_0000_0000_0006, ordering: .releasing)
    futexWake(lowHalfOf: word.atomic)
    #expect(thread.join())
  }

  @Test func `may be woken without sleepers`() {
    let word = SharedWord<UInt32>(0)
    futexWake(word.atomic)
    futexWake(word.atomic, count: .max)
    #expect(word.atomic.load(ordering: .relaxed) == 0)
  }

  private static func isAsleep(_ sleeper: SharedWord<UInt32>) -> Bool {
    let thread = sleeper.atomic.load(ordering: .acquiring)
    return thread != 0 && PrimitivesTests.isAsleep(thread)
  }
}

@Suite("A clock") struct ClockTests {
  @Test func `never goes back`() {
    var last = Clock.monotonicNanoseconds()
    for _ in 0..<1000 {
      let now = Clock.monotonicNanoseconds()
      #expect(now >= last)
      last = now
    }
    // Nanoseconds from 1970 to the year 2020.
    #expect(Clock.wallNanoseconds() > 1_577_836_800_000_000_000)
  }

  @Test func `counts the CPU time of a thread that works`() throws {
    let thread = gc_thread_id()
    let before = try #require(Clock.cpuNanoseconds(ofThread: thread))
    spin { (Clock.cpuNanoseconds(ofThread: thread) ?? 0) > before + 1_000_000 }
    #expect(try #require(Clock.cpuNanoseconds(ofThread: thread)) > before)
  }

  @Test func `has no CPU time for a thread that does not exist`() {
    #expect(Clock.cpuNanoseconds(ofThread: 1 << 23) == nil)
  }
}
