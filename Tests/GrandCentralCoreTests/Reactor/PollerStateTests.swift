import Testing

@testable import GrandCentralCore

@Suite("The state word of the poller") struct PollerStateTests {
  @Test func `counts two threads, and which of them is the last to leave the wait`() throws {
    let (one, first) = try #require(PollerState.empty.starting())
    let (two, second) = try #require(one.starting())
    #expect(first == 0 && second == 1 && two.isFull && two.starting() == nil)
    #expect(two.refused(1)?.next == one && two.refused(1)?.outcome == false)
    #expect(one.refused(0)?.next == .empty && one.refused(0)?.outcome == true)
    let alone = try #require(two.entering())
    let both = try #require(alone.entering())
    #expect(both.present == 2 && both.threads == 2 && both.isValid)
    #expect(both.leaving()?.next == alone && both.leaving()?.outcome == false)
    #expect(alone.leaving()?.next == two && alone.leaving()?.outcome == true)
  }

  @Test func `gives a number to one thread at a time, also when the first is refused`() throws {
    let (one, _) = try #require(PollerState.empty.starting())
    let (two, _) = try #require(one.starting())
    let (second, isNone) = try #require(two.refused(0))
    #expect(!isNone)
    #expect(second.threads == 1)
    #expect(second.starting()?.outcome == 0)
    #expect(second.starting()?.next == two)
  }

  @Test func `has no thread in the wait that does not exist`() {
    #expect(PollerState.empty.entering()?.isValid == false)
    #expect(PollerState.empty.isValid && !PollerState(rawValue: 4).isValid)
  }
}
