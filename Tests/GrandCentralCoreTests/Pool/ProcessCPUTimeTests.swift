// The share of the CPUs that the process gets: part of contract row T3.
import Testing

@testable import GrandCentralCore

@Suite("The CPU time of the process") struct ProcessCPUTimeTests {
  private static let look: UInt64 = 1_000_000
  private static let looks = ProcessCPUTime.windowNanoseconds / look

  /// Notes looks of a millisecond each, in which the process uses so much and its workers so much.
  private func note(
    _ count: UInt64, used: UInt64, byWorkers: UInt64 = 0, isBusy: Bool = true,
    _ time: inout ProcessCPUTime, now: inout UInt64, total: inout UInt64
  ) {
    for _ in 0..<count {
      now += Self.look
      total += used
      time.note(total, byWorkers: byWorkers, isBusy: isBusy, at: now)
    }
  }

  @Test func `is a rate over some ticks of the kernel`() {
    var time = ProcessCPUTime()
    var (now, total): (UInt64, UInt64) = (7, 7_000_000_000)
    note(Self.looks, used: 2 * Self.look, &time, now: &now, total: &total)
    #expect(time.perSecond == nil, "the first look has no time")
    note(1, used: 2 * Self.look, &time, now: &now, total: &total)
    #expect(time.perSecond == 2_000_000_000, "two CPUs")
    note(Self.looks - 1, used: 0, &time, now: &now, total: &total)
    #expect(time.perSecond == 2_000_000_000)
    note(1, used: Self.looks * Self.look / 4, &time, now: &now, total: &total)
    #expect(time.perSecond == 250_000_000)
  }

  @Test func `leaves pauses out`() {
    var time = ProcessCPUTime()
    var (now, total): (UInt64, UInt64) = (7, 0)
    for _ in 0..<2 * Self.looks {
      note(2, used: 2 * Self.look, &time, now: &now, total: &total)
      note(2, used: 0, isBusy: false, &time, now: &now, total: &total)
    }
    #expect(time.perSecond == 2_000_000_000)
  }

  @Test func `is no less than that of the workers`() {
    var time = ProcessCPUTime()
    var (now, total): (UInt64, UInt64) = (7, 0)
    note(
      Self.looks + 1, used: 0, byWorkers: 2 * Self.look, &time, now: &now, total: &total)
    #expect(time.perSecond == 2_000_000_000)
  }

  @Test func `survives a clock that goes back, and leaves a standstill out`() {
    var time = ProcessCPUTime()
    time.note(5_000_000, byWorkers: 0, isBusy: true, at: 1_000_000)
    time.note(1_000_000, byWorkers: 0, isBusy: true, at: 2_000_000)
    time.note(2_000_000, byWorkers: 0, isBusy: true, at: 2_000_000_000)
    #expect(time.perSecond == nil)
  }
}
