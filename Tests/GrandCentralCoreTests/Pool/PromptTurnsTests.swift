import Testing

@testable import GrandCentralCore

@Suite("A prompt worker") struct PromptTurnsTests {
  /// Notes `count` turns of one kind. Returns the numbers of those that changed something.
  private func changes(
    _ turns: inout PromptTurns, in count: Int, isForOne: Bool = true, ticks: UInt64 = 0
  ) -> [Int] {
    var changes: [Int] = []
    for turn in 1...count {
      turns.began = 1000
      if turns.ended(isForOne: isForOne, at: 1000 + ticks) { changes.append(turn) }
    }
    return changes
  }

  @Test func `is one whose turns are seldom and brief, several times`() {
    var turns = PromptTurns()
    let found = changes(&turns, in: 100)
    #expect(found == [PromptTurns.most] && turns.isPrompt)
  }

  @Test(arguments: [(false, 0), (true, 1), (false, 1)] as [(Bool, UInt64)])
  func `is so until as many turns were frequent, long, or both`(isForOne: Bool, ticks: UInt64) {
    var turns = PromptTurns()
    _ = changes(&turns, in: 100)
    let ends = changes(&turns, in: 100, isForOne: isForOne, ticks: ticks)
    #expect(ends == [PromptTurns.most] && !turns.isPrompt)
  }

  @Test func `is not one that computes for a tick or longer, each time`() {
    var turns = PromptTurns()
    for ticks: UInt64 in [1, 2, 4_000_000, 3_000_000_000] {
      let found = changes(&turns, in: 100, ticks: ticks)
      #expect(found.isEmpty && !turns.isPrompt)
    }
  }

  @Test(arguments: [false, true]) func `does not change while its turns alternate`(first: Bool) {
    var turns = PromptTurns()
    for turn in 0..<100 {
      let found = changes(&turns, in: 1, isForOne: (turn % 2 == 0) == first)
      #expect(found.isEmpty)
    }
  }

  @Test func `counts a turn once, and none before its first sleep`() {
    var turns = PromptTurns()
    var isChanged = false
    for _ in 0..<100 where turns.ended(isForOne: true, at: 1000) { isChanged = true }
    #expect(!isChanged && !turns.isPrompt)
    let early = changes(&turns, in: PromptTurns.most - 1)
    isChanged = turns.ended(isForOne: true, at: 1000)
    #expect(early.isEmpty && !isChanged && !turns.isPrompt)
    let next = changes(&turns, in: 1)
    #expect(next == [1] && turns.isPrompt)
  }
}
