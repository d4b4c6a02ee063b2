import FuzzKit
import Testing

@Suite("The shrinker") struct ShrinkerTests {
  /// A program of some size for which `fails` holds.
  private func big(_ fails: (Program) -> Bool) -> Program? {
    (0..<5000).lazy.map { Generator.program(seed: 5, index: $0) }
      .first { $0.allOps.count > 20 && fails($0) }
  }

  @Test func `keeps only what the failure needs`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { $0.submission?.isBarrier == true }
        && program.allOps.contains { if case .waitGroup = $0 { true } else { false } }
    }
    let small = Shrinker.shrink(try #require(big(fails)), mostTrials: 5000, while: fails)
    #expect(fails(small) && small.isLegal)
    #expect(small.allOps.count == 2)
    #expect(small.queues == [QueueSpec(.serial, level: small.queues[0].level)])
    #expect(small.semaphores.isEmpty && small.groups.count == 1)
    #expect(small.allOps.map(\.id).sorted() == [0, 1])
  }

  @Test func `tries legal programs only`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { if case .activate = $0 { true } else { false } }
    }
    let small = Shrinker.shrink(try #require(big(fails)), mostTrials: 5000) { candidate in
      #expect(candidate.isLegal)
      return fails(candidate)
    }
    #expect(small.allOps.count == 1)
  }

  @Test func `takes a handle's users along`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { if case .cancel = $0 { true } else { false } }
    }
    let small = Shrinker.shrink(try #require(big(fails)), mostTrials: 5000, while: fails)
    #expect(small.allOps.count == 2 && small.isLegal)
  }

  @Test func `gives back what it cannot make smaller`() {
    let whole = Generator.program(seed: 5, index: 1)
    var trials = 0
    let same = Shrinker.shrink(whole, mostTrials: 100) { _ in
      trials += 1
      return false
    }
    #expect(same == whole.compacted())
    #expect(trials > 0 && trials <= 100)
  }
}
