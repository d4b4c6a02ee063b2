import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Who is asked to drain a lane") struct SummonsTests {
  private let none = Summons(rawValue: 0)

  @Test func `is one node, however often the lane wants one`() {
    let (wanted, sends) = none.wanting(.utility)
    #expect(sends && wanted.isWanted && wanted.isOut(.utility))
    let (drained, drains) = wanted.answered(.utility, generation: 0)
    #expect(drains && drained == none)
    #expect(drained.answered(.utility, generation: 0).drains == false)
  }

  @Test func `is a second node of a higher band when the lane is raised`() {
    let (raised, raise) = none.wanting(.background).0.raised(to: .userInitiated)
    #expect(raise == .sends)
    #expect(raised.raised(to: .userInitiated).1 == .isOut)
    #expect(raised.raised(to: .default).1 == .isOut)
    #expect(raised.raised(to: .userInteractive).1 == .sends)
  }

  @Test(arguments: [(Band.background, Band.default), (.default, .background)])
  func `is whichever comes first, and only that one`(first: Band, second: Band) {
    let word = none.wanting(.background).0.raised(to: .default).0
    let (drained, drains) = word.answered(first, generation: 0)
    #expect(drains && !drained.isWanted && drained.isOut(second) && !drained.isOut(first))
    let (left, drainsAgain) = drained.answered(second, generation: 0)
    #expect(!drainsAgain && left == none)
  }

  @Test func `is one that was left behind, if it is urgent enough`() {
    let leftBehind = none.wanting(.utility).0.raised(to: .default).0
      .answered(.utility, generation: 0).0
    #expect(
      leftBehind.wanting(.default) == (Summons(rawValue: leftBehind.rawValue | 1 << 8), false))
    #expect(!leftBehind.wanting(.background).sends)
    #expect(leftBehind.wanting(.userInitiated).sends)
    #expect(leftBehind.wanting(.background).0.answered(.default, generation: 0).drains)
  }

  @Test func `cannot be raised when nobody is asked`() {
    #expect(none.raised(to: .userInteractive) == (none, .isTooLate))
    let drained = none.wanting(.utility).0.answered(.utility, generation: 0).0
    #expect(drained.raised(to: .default) == (drained, .isTooLate))
  }

  @Test func `is nobody on an old target`() {
    let leftBehind = none.wanting(.utility).0.raised(to: .default).0
      .answered(.default, generation: 0).0
    let moved = leftBehind.withdrawn()
    #expect(moved.generation == 1 && !moved.isOut(.utility))
    let (wanted, sends) = moved.wanting(.utility)
    #expect(sends)
    #expect(wanted.answered(.utility, generation: 0) == (wanted, false))
    #expect(wanted.answered(.utility, generation: 1).drains)
  }

  /// Wants, raises, answers and moves in any order: as many nodes are out as were sent and have not come, in
  /// no band more than one, and the lane is drained exactly once for each time that it was wanted.
  @Test(arguments: 0..<64) func `never has two nodes of a band on their way`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var word = none
    var out: [(band: Band, generation: UInt32)] = []
    let bands: [Band] = [.background, .utility, .default, .userInitiated, .userInteractive]
    for _ in 0..<400 {
      let band = bands[Int(generator.next() % 5)]
      switch generator.next() % 4 {
      case 0 where !word.isWanted:
        let (next, sends) = word.wanting(band)
        word = next
        if sends { out.append((band, word.generation)) }
        #expect(out.contains { $0.generation == word.generation && $0.band >= band })
      case 1:
        let (next, raise) = word.raised(to: band)
        #expect((raise == .isTooLate) == !word.isWanted)
        word = next
        if raise == .sends { out.append((band, word.generation)) }
      case 2 where !out.isEmpty:
        let node = out.remove(at: Int(generator.next() % UInt64(out.count)))
        let (next, drains) = word.answered(node.band, generation: node.generation)
        #expect(drains == (word.isWanted && node.generation == word.generation))
        word = next
      case 3 where !word.isWanted && generator.next() % 8 == 0: word = word.withdrawn()
      default: break
      }
      let valid = out.filter { $0.generation == word.generation }
      #expect(Set(valid.map(\.band)).count == valid.count)
      #expect(valid.allSatisfy { word.isOut($0.band) })
      #expect(!word.isWanted || !valid.isEmpty)
    }
  }
}
