import Testing

@testable import GrandCentralCore

@Suite("Brief stays in a lower class") struct BriefStaysTests {
  private let brief = BriefStays.longestNanoseconds - 1

  /// Makes `count` stays of the same length, one a millisecond. Returns the time after them.
  private func stay(_ stays: inout BriefStays, _ count: UInt32, for length: UInt64) -> UInt64 {
    for number in 1..<UInt64(count + 1) {
      stays.left(at: number * 1_000_000)
      stays.rose(at: number * 1_000_000 + length)
    }
    return UInt64(count + 1) * 1_000_000
  }

  @Test func `are expected after many, and no sooner`() {
    for count in 0...2 * BriefStays.needed {
      var stays = BriefStays()
      let now = stay(&stays, count, for: brief)
      stays.left(at: now)
      #expect(stays.keepsSettings(at: now) == (count >= BriefStays.needed), "\(count)")
    }
  }

  @Test func `are no longer expected of a stay that has lasted`() {
    var stays = BriefStays()
    let now = stay(&stays, BriefStays.needed, for: brief)
    stays.left(at: now)
    #expect(stays.keepsSettings(at: now + brief))
    #expect(!stays.keepsSettings(at: now + brief + 1) && !stays.isBrief(at: now + brief + 1))
  }

  @Test func `are expected after one long one, and not after two in a row`() {
    var stays = BriefStays()
    var now = stay(&stays, 2 * BriefStays.maxCount, for: brief)
    for longOnes in 1...2 {
      stays.left(at: now)
      stays.rose(at: now + brief + 1)
      now += 1_000_000
      stays.left(at: now)
      #expect(stays.keepsSettings(at: now) == (longOnes == 1))
      stays.rose(at: now)
      now += 1_000_000
    }
    _ = stay(&stays, BriefStays.needed / 2, for: 1_000_000)
    #expect(stays.count == 0)
  }

  @Test func `are shorter if the thread rests at their end`() {
    var stays = BriefStays()
    let shortest = BriefStays.restNanoseconds
    for number in 1...UInt64(BriefStays.needed) {
      stays.left(at: number * 1_000_000)
      stays.rested(at: number * 1_000_000 + shortest - 1)
      // The rise that follows the rest, for other work.
      stays.rose(at: number * 1_000_000 + shortest)
    }
    #expect(stays.count == BriefStays.needed)
    stays.left(at: 1_000_000_000)
    stays.rested(at: 1_000_000_000 + shortest)
    #expect(stays.count == BriefStays.needed - BriefStays.lessForLong)
  }

  @Test func `are not counted for a thread that was in no lower class`() {
    var stays = BriefStays()
    let now = stay(&stays, 3, for: brief)
    stays.rested(at: now)
    stays.rested(at: now + 1_000_000)
    stays.rose(at: now + 2_000_000)
    #expect(stays.count == 3)
  }

  @Test func `do not hide a long stay that led to a lower class still`() {
    var stays = BriefStays()
    let now = stay(&stays, BriefStays.needed, for: brief)
    stays.left(at: now)
    stays.left(at: now + brief + 1)
    stays.rested(at: now + brief + 1)
    #expect(stays.count == BriefStays.needed - BriefStays.lessForLong + 1)
  }

  @Test func `do not need a clock that has advanced`() {
    var stays = BriefStays()
    _ = stay(&stays, BriefStays.needed, for: 0)
    stays.left(at: 7)
    #expect(stays.keepsSettings(at: 7))
  }
}
