// A worker whose item rests again and again counts later after each rest: contract row T4.
import Testing

@testable import GrandCentralCore

@Suite("A worker that rested and computes") struct DoubtedWorkersTests {
  private static let look: UInt64 = 1_000_000

  /// A pool of width 2 whose monitor looks at `count` workers.
  private struct Looks {
    var policy = GrowthPolicy(
      limits: GrowthPolicy.Limits(softThreads: 8, softThreadsForLanes: 8, maxThreads: 8),
      firstThreads: 4)
    var records: [GrowthPolicy.Record]
    var counted: [Bool]
    var item: UInt32 = 1

    init(of count: Int) {
      records = [GrowthPolicy.Record](repeating: .init(), count: count)
      counted = [Bool](repeating: true, count: count)
    }

    mutating func look(used: UInt64) {
      policy.begin()
      for index in records.indices {
        let sight = GrowthPolicy.Sight(
          isCounted: counted[index], isInLane: false, progress: item, used: used,
          elapsed: DoubtedWorkersTests.look)
        switch policy.see(sight, &records[index], state: { used == 0 ? .asleep : nil }) {
        case .keep: break
        case .stopCounting: counted[index] = false
        case .count: counted[index] = true
        }
      }
      let waiting = GrowthPolicy.Waiting(hasWork: true, oldestLane: nil, itemsUntaken: nil)
      let books = GrowthPolicy.Books(width: 2, threads: 4, idle: 0, active: 0)
      _ = policy.decide(waiting, books, elapsed: DoubtedWorkersTests.look)
    }

    /// Lets the workers sleep until none counts, and then compute. Returns how many looks each
    /// needs until it counts again.
    mutating func looksUntilCounted() -> [Int] {
      // The first look that sees another item does not find it resting.
      for _ in 1...2 { look(used: 0) }
      #expect(!counted.contains(true))
      var looks = [Int](repeating: 0, count: counted.count)
      for _ in 1...100 where counted.contains(false) {
        for index in counted.indices where !counted[index] { looks[index] += 1 }
        look(used: DoubtedWorkersTests.look)
      }
      return looks
    }
  }

  @Test func `counts after twice the CPU time of the time before, within one item`() {
    var looks = Looks(of: 1)
    // The policy knows the width after its first look.
    looks.look(used: Self.look)
    let longest = Int(looks.policy.thresholds.longestDoubt / Self.look)
    for number in 1...2 {
      looks.item = UInt32(number)
      let rounds = (1...8).flatMap { _ in looks.looksUntilCounted() }
      #expect(rounds == [1, 1, 2, 4, 8, longest, longest, longest], "item \(number)")
    }
  }

  @Test func `counts at once beside as many others as the width`() {
    var looks = Looks(of: 5)
    looks.look(used: Self.look)
    let rounds = (1...4).map { _ in looks.looksUntilCounted() }
    #expect(rounds.last == [4, 4, 1, 1, 1])
  }

  @Test func `counts later, not never, after any number of rests`() {
    var looks = Looks(of: 1)
    looks.look(used: Self.look)
    for _ in 1...200 { #expect(looks.looksUntilCounted()[0] <= 16) }
  }
}
