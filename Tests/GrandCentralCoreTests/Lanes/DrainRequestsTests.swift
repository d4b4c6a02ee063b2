import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The requests to drain a lane") struct DrainRequestsTests {
  private let none = DrainRequests(rawValue: 0)

  @Test func `are one node, however often the lane requests a drain`() {
    let (requested, sends) = none.requesting(.utility)
    #expect(sends && requested.isRequested && requested.isEnqueued(.utility))
    let (drained, drains) = requested.claimed(.utility, generation: 0)
    #expect(drains && drained == none)
    #expect(drained.claimed(.utility, generation: 0).drains == false)
  }

  @Test func `include a second node in a higher band when the lane is boosted`() {
    let (raised, raise) = none.requesting(.background).0.raised(to: .userInitiated)
    #expect(raise == .sends)
    #expect(raised.raised(to: .userInitiated).1 == .isEnqueued)
    #expect(raised.raised(to: .default).1 == .isEnqueued)
    #expect(raised.raised(to: .userInteractive).1 == .sends)
  }

  @Test(arguments: [(Band.background, Band.default), (.default, .background)])
  func `are claimed by the node that runs first, and no other`(first: Band, second: Band) {
    let word = none.requesting(.background).0.raised(to: .default).0
    let (drained, drains) = word.claimed(first, generation: 0)
    #expect(
      drains && !drained.isRequested && drained.isEnqueued(second) && !drained.isEnqueued(first))
    let (left, drainsAgain) = drained.claimed(second, generation: 0)
    #expect(!drainsAgain && left == none)
  }

  @Test func `reuse a stale node that is urgent enough`() {
    let leftBehind = none.requesting(.utility).0.raised(to: .default).0
      .claimed(.utility, generation: 0).0
    #expect(
      leftBehind.requesting(.default) == (
        DrainRequests(rawValue: leftBehind.rawValue | 1 << 8), false
      ))
    #expect(!leftBehind.requesting(.background).sends)
    #expect(leftBehind.requesting(.userInitiated).sends)
    #expect(leftBehind.requesting(.background).0.claimed(.default, generation: 0).drains)
  }

  @Test func `cannot be boosted when none is in flight`() {
    #expect(none.raised(to: .userInteractive) == (none, .isTooLate))
    let drained = none.requesting(.utility).0.claimed(.utility, generation: 0).0
    #expect(drained.raised(to: .default) == (drained, .isTooLate))
  }

  @Test func `are forgotten when the target changes`() {
    let leftBehind = none.requesting(.utility).0.raised(to: .default).0
      .claimed(.default, generation: 0).0
    let moved = leftBehind.withdrawn()
    #expect(moved.generation == 1 && !moved.isEnqueued(.utility))
    let (requested, sends) = moved.requesting(.utility)
    #expect(sends)
    #expect(requested.claimed(.utility, generation: 0) == (requested, false))
    #expect(requested.claimed(.utility, generation: 1).drains)
  }

  /// Requests, raises, claims and withdraws in random order. The nodes in flight are those that
  /// were sent and have not run, at most one in each band. The lane is drained exactly once for
  /// each request.
  @Test(arguments: 0..<64) func `are at most one node a band in flight`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var word = none
    var out: [(band: Band, generation: UInt32)] = []
    let bands: [Band] = [.background, .utility, .default, .userInitiated, .userInteractive]
    for _ in 0..<400 {
      let band = bands[Int(generator.next() % 5)]
      switch generator.next() % 4 {
      case 0 where !word.isRequested:
        let (next, sends) = word.requesting(band)
        word = next
        if sends { out.append((band, word.generation)) }
        #expect(out.contains { $0.generation == word.generation && $0.band >= band })
      case 1:
        let (next, raise) = word.raised(to: band)
        #expect((raise == .isTooLate) == !word.isRequested)
        word = next
        if raise == .sends { out.append((band, word.generation)) }
      case 2 where !out.isEmpty:
        let node = out.remove(at: Int(generator.next() % UInt64(out.count)))
        let (next, drains) = word.claimed(node.band, generation: node.generation)
        #expect(drains == (word.isRequested && node.generation == word.generation))
        word = next
      case 3 where !word.isRequested && generator.next() % 8 == 0: word = word.withdrawn()
      default: break
      }
      #expect(word.isValid)
      let valid = out.filter { $0.generation == word.generation }
      #expect(Set(valid.map(\.band)).count == valid.count)
      #expect(valid.allSatisfy { word.isEnqueued($0.band) })
      #expect(!word.isRequested || !valid.isEmpty)
    }
  }
}
