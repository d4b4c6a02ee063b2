import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The setting of a timer") struct TimerSettingTests {
  private func armed(at target: UInt64, leeway: UInt64 = 0, interval: UInt64 = 0) -> TimerSetting {
    var setting = TimerSetting()
    setting.set(to: target, leeway: leeway, interval: interval)
    setting.arm()
    return setting
  }

  private func postpones(
    _ setting: inout TimerSetting, to target: UInt64, leeway: UInt64 = 0, interval: UInt64 = 0
  ) -> Bool { setting.postpone(to: target, leeway: leeway, interval: interval) }

  private func comes(_ setting: inout TimerSetting, at now: UInt64) -> TimerSetting.Arrival {
    setting.came(at: now)
  }

  private func answer(_ setting: inout TimerSetting, at now: UInt64) -> UInt64? {
    setting.answer(at: now)?.count
  }

  @Test func `is postponed while the heaps cover the new time`() {
    var setting = armed(at: 100, leeway: 10)
    #expect(postpones(&setting, to: 200, leeway: 10, interval: 5))
    #expect(setting.target == 200 && setting.latest == 210 && setting.interval == 5)
    // Earlier than the last time, but not earlier than what the heaps hold.
    #expect(postpones(&setting, to: 100, leeway: 20))
    #expect(postpones(&setting, to: .max))
    #expect(!postpones(&setting, to: 99, leeway: 100, interval: 1))
    #expect(!postpones(&setting, to: 300, leeway: 19, interval: 1))
    #expect(setting.target == .max && setting.interval == 0)
  }

  @Test func `is postponed only while it is armed`() {
    var idle = TimerSetting()
    #expect(!postpones(&idle, to: 200))
    var fired = armed(at: 100)
    #expect(comes(&fired, at: 100) == .fires)
    #expect(!postpones(&fired, to: 200))
    var never = armed(at: .max)
    #expect(never.phase == .idle && !postpones(&never, to: .max))
  }

  @Test func `fires once, when its own time has come`() {
    var setting = armed(at: 100)
    #expect(postpones(&setting, to: 200))
    #expect(comes(&setting, at: 199) == .isEarly)
    setting.arm()
    #expect(comes(&setting, at: 200) == .fires)
    #expect(comes(&setting, at: 300) == .isOver)
    #expect(answer(&setting, at: 300) == 1)
    #expect(answer(&setting, at: 300) == nil)
  }

  @Test(arguments: [UInt64.max - 2, UInt64.max - 1])
  func `is armed for the last times`(target: UInt64) {
    var setting = armed(at: target)
    #expect(setting.phase == .armed && comes(&setting, at: target - 1) == .isEarly)
    #expect(comes(&setting, at: target) == .fires && answer(&setting, at: target) == 1)
  }

  @Test func `forgets an expiry when it is set or disarmed`() {
    var set = armed(at: 100)
    #expect(comes(&set, at: 100) == .fires)
    set.set(to: 200, leeway: 0, interval: 0)
    #expect(answer(&set, at: 150) == nil)
    var disarmed = armed(at: 100)
    disarmed.disarm()
    #expect(comes(&disarmed, at: 100) == .isOver && answer(&disarmed, at: 100) == nil)
  }

  @Test func `counts the intervals that have passed, and stays on their grid`() {
    var setting = armed(at: 100, interval: 30)
    #expect(comes(&setting, at: 165) == .fires)
    #expect(answer(&setting, at: 165) == 3 && setting.target == 190)
    // No time follows the last one.
    var last = armed(at: .max - 1, interval: 30)
    #expect(comes(&last, at: .max - 1) == .fires)
    let end = last.answer(at: .max - 1)
    #expect(end?.count == 1 && end?.repeats == false)
  }

  /// Compares a timer that is postponed with the time that was asked for last.
  @Test func `fires as one does whose heaps follow each setting, in any order of calls`() {
    var random = SeededGenerator(for: "timer settings")
    for _ in 0..<2000 {
      var setting = TimerSetting()
      /// The time that the heaps hold, and the calls of came() that are due.
      var (held, due) = (UInt64?.none, 0)
      var heldLatest: UInt64 = 0
      var (wanted, now) = (UInt64?.none, UInt64(0))
      for _ in 0..<40 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          let target = now + UInt64.random(in: 0...20, using: &random)
          let leeway = UInt64.random(in: 0...10, using: &random)
          wanted = target
          if setting.postpone(to: target, leeway: leeway, interval: 0) { break }
          setting.set(to: target, leeway: leeway, interval: 0)
          setting.arm()
          (held, heldLatest) = (target, setting.latest)
        case 1:
          now += UInt64.random(in: 0...5, using: &random)
        case 2:
          if let time = held, time <= now { (held, due) = (nil, due + 1) }
        default:
          guard due > 0 else { break }
          due -= 1
          switch setting.came(at: now) {
          case .fires:
            #expect(wanted.map { $0 <= now } == true, "fired early, or twice")
            wanted = nil
            #expect(answer(&setting, at: now) == 1)
          case .isEarly:
            #expect(wanted.map { $0 > now } == true, "early without a time to come")
            setting.arm()
            (held, heldLatest) = (setting.target, setting.latest)
          case .isOver: #expect(wanted == nil, "a firing is lost")
          }
        }
        // What is wanted will come, and in time.
        if let wanted { #expect(due > 0 || held.map { $0 <= wanted } == true) }
        if held != nil && wanted != nil && due == 0 { #expect(heldLatest <= setting.latest) }
      }
    }
  }
}

@Suite("The timers of a clock") struct TimersTests {
  /// Other tests may have timers in the same heaps, but none in the first nanosecond.
  @Test func `leave a timer that is due before all others to the thread that arms it`() {
    let timers = Reactor.reference._withUnsafeGuaranteedRef {
      $0.sharedTimers._withUnsafeGuaranteedRef { $0.timers(isWall: false) }
    }
    timers._withUnsafeGuaranteedRef { timers in
      timers.makeTimerFD()
      timers.lock.pointee.withLock {
        #expect(timers.isDueBeforeOthers(at: 1, until: 1))
        #expect(timers.isDueBeforeOthers(at: 0, until: 1))
        let later = Clock.monotonicNanoseconds() + 3_600_000_000_000
        #expect(!timers.isDueBeforeOthers(at: later, until: later))
        let lane = DispatchQueue(label: "test.timers")
        let entry = timers.makeEntry(for: lane)
        timers.arm(entry, at: 1, until: 1)
        #expect(!timers.isDueBeforeOthers(at: 2, until: 2), "the other is due first")
        timers.putBack(entry)
      }
    }
  }
}
