// How long the oldest node of a queue has waited: part of contract row T4.
import Testing

@testable import GrandCentralCore

@Suite("A wait clock") struct WaitClockTests {
  @Test func `says how long the oldest has waited`() {
    var clock = WaitClock()
    #expect(clock.look(came: 0, went: 0, elapsed: 1) == nil)
    #expect(clock.look(came: 3, went: 0, elapsed: 1) == 1)
    #expect(clock.look(came: 5, went: 2, elapsed: 1) == 2)
    // The first three have left; the others have waited for at least one look.
    #expect(clock.look(came: 5, went: 3, elapsed: 1) == 1)
    #expect(clock.look(came: 6, went: 4, elapsed: 1) == 2)
    #expect(clock.look(came: 6, went: 6, elapsed: 1) == nil)
  }

  @Test func `wraps`() {
    var clock = WaitClock()
    #expect(clock.look(came: 1, went: .max, elapsed: 2) == 2)
    #expect(clock.look(came: 1, went: 0, elapsed: 2) == 4)
    #expect(clock.look(came: 1, went: 1, elapsed: 2) == nil)
  }
}
