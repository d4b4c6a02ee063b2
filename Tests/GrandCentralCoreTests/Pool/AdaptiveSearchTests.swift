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

  @Test func `stops after one poll that finds nothing`() {
    var adaptiveSearch = AdaptiveSearch()
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.search { nil as Int? } == nil)
    #expect(!adaptiveSearch.isWorthwhile)
    // The work came after the search, but the sleep was short.
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(!adaptiveSearch.isWorthwhile)
    adaptiveSearch.slept(nanoseconds: 1_000)
    #expect(adaptiveSearch.isWorthwhile)
  }
}
