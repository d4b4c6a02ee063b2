import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread without work", .enabled(if: Spin.limit > 0)) struct AdaptiveSearchTests {
  @Test func `sleeps at once, until a sleep was short`() {
    var adaptiveSearch = AdaptiveSearch()
    #expect(!adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000_000)
    #expect(!adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000_000)
    #expect(!adaptiveSearch.isWorthwhile)
  }

  @Test func `polls as long as it finds work`() {
    var adaptiveSearch = AdaptiveSearch()
    adaptiveSearch.slept(nanoseconds: 1_000)
    var looks = 0
    let found = adaptiveSearch.search {
      looks += 1
      return looks == 3 ? "work" : nil
    }
    #expect(found == "work" && looks == 3)
    #expect(adaptiveSearch.isWorthwhile)
  }

  @Test func `searches less often, the more searches found nothing`() {
    var adaptiveSearch = AdaptiveSearch()
    var sleeps: [Int] = []
    for _ in 0..<8 {
      var count = 0
      repeat {
        // The work came after the search, but the sleep was short.
        adaptiveSearch.slept(nanoseconds: 1_000)
        count += 1
      } while !adaptiveSearch.isWorthwhile
      sleeps.append(count)
      #expect(adaptiveSearch.search { nil as Int? } == nil)
    }
    #expect(sleeps == [1, 2, 4, 8, 16, 32, 64, 64])
  }

  @Test func `searches again at once after a search that found work`() {
    var adaptiveSearch = AdaptiveSearch()
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.search { nil as Int? } == nil)
    #expect(!adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(!adaptiveSearch.isWorthwhile)
    // A long sleep says nothing of the next short ones.
    adaptiveSearch.slept(nanoseconds: 1_000_000)
    #expect(!adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.search { 1 } == 1)
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.isWorthwhile)
  }
}
