import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread without work", .enabled(if: Spin.limit > 0)) struct PatienceTests {
  @Test func `sleeps at once, until a sleep was short`() {
    var patience = Patience()
    #expect(!patience.looksOn)
    patience.slept(nanoseconds: 1_000_000)
    #expect(!patience.looksOn)
    patience.slept(nanoseconds: 1_000)
    #expect(patience.looksOn)
    patience.slept(nanoseconds: 1_000_000)
    #expect(!patience.looksOn)
  }

  @Test func `looks on as long as it finds some`() {
    var patience = Patience()
    patience.slept(nanoseconds: 1_000)
    var looks = 0
    let found = patience.lookOn {
      looks += 1
      return looks == 3 ? "work" : nil
    }
    #expect(found == "work" && looks == 3)
    #expect(patience.looksOn)
  }

  @Test func `does not look on twice in vain`() {
    var patience = Patience()
    patience.slept(nanoseconds: 1_000)
    #expect(patience.lookOn { nil as Int? } == nil)
    #expect(!patience.looksOn)
    // Too late for the look, and still a short sleep.
    patience.slept(nanoseconds: 1_000)
    #expect(!patience.looksOn)
    patience.slept(nanoseconds: 1_000)
    #expect(patience.looksOn)
  }
}
