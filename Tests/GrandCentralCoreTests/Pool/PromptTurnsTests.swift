import Testing

@testable import GrandCentralCore

@Suite("A prompt worker") struct PromptTurnsTests {
  /// Notes `count` turns of one kind. Returns the numbers of those that changed something.
  private func changes(_ turns: inout PromptTurns, in count: Int, seldom: Bool) -> [Int] {
    var changes: [Int] = []
    for turn in 1...count where turns.note(isSeldomAndBrief: seldom) { changes.append(turn) }
    return changes
  }

  @Test func `is one whose turns are seldom and brief, several times`() {
    var turns = PromptTurns()
    #expect(changes(&turns, in: 100, seldom: true) == [PromptTurns.most] && turns.isPrompt)
  }

  @Test func `is so until as many turns were not`() {
    var turns = PromptTurns()
    _ = changes(&turns, in: 100, seldom: true)
    #expect(changes(&turns, in: 100, seldom: false) == [PromptTurns.most] && !turns.isPrompt)
  }

  @Test(arguments: [false, true]) func `does not change while its turns alternate`(first: Bool) {
    var turns = PromptTurns()
    for turn in 0..<100 {
      let seldom = (turn % 2 == 0) == first
      #expect(changes(&turns, in: 1, seldom: seldom).isEmpty)
    }
  }
}
