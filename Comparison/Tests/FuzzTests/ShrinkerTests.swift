import FuzzKit
import Testing

@Suite("The shrinker") struct ShrinkerTests {
  /// Returns a generated program for which `fails` holds.
  private func big(_ fails: (Program) -> Bool) -> Program? {
    (0..<5000).lazy.map { Generator.program(seed: 5, index: $0) }
      .first { $0.allOps.count > 20 && fails($0) }
  }

  @Test func `keeps only what the failure needs`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { $0.submissions.contains(where: \.isBarrier) }
        && program.allOps.contains { if case .waitGroup = $0 { true } else { false } }
    }
    let small = Shrinker.shrink(try #require(big(fails)), maxTrials: 5000, while: fails)
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
    let small = Shrinker.shrink(try #require(big(fails)), maxTrials: 5000) { candidate in
      #expect(candidate.isLegal)
      return fails(candidate)
    }
    #expect(small.allOps.count == 1)
  }

  @Test func `takes a handle's users along`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { if case .cancel = $0 { true } else { false } }
    }
    let small = Shrinker.shrink(try #require(big(fails)), maxTrials: 5000, while: fails)
    #expect(small.allOps.count == 2 && small.isLegal)
  }

  @Test func `leaves as many members in a meeting as the failure needs`() throws {
    func members(_ program: Program) -> Int {
      program.allOps.map { if case .meeting(_, _, let members) = $0 { members.count } else { 0 } }
        .max() ?? 0
    }
    let whole = try #require(
      (0..<5000).lazy.map { Generator.program(seed: 5, index: $0, busyPercent: 100) }
        .first { members($0) > 6 })
    let small = Shrinker.shrink(whole, maxTrials: 5000) { members($0) >= 3 }
    #expect(members(small) == 3 && small.isLegal)
    guard case .meeting(0, let polling, _) = small.allOps[0] else {
      Issue.record("\(small)")
      return
    }
    #expect(small.allOps.count == 1 && polling.manner == .nap)
  }

  @Test func `takes the busy waits for an item along`() throws {
    func fails(_ program: Program) -> Bool {
      program.allOps.contains { if case .busyWait = $0 { true } else { false } }
    }
    let whole = try #require(
      (0..<5000).lazy.map { Generator.program(seed: 5, index: $0, busyPercent: 100) }
        .first { fails($0) && $0.allOps.count > 10 })
    let small = Shrinker.shrink(whole, maxTrials: 5000, while: fails)
    #expect(small.allOps.count == 2 && small.isLegal)
  }

  @Test func `returns what it cannot make smaller`() {
    let whole = Generator.program(seed: 5, index: 1)
    var trials = 0
    let same = Shrinker.shrink(whole, maxTrials: 100) { _ in
      trials += 1
      return false
    }
    #expect(same == whole.compacted())
    #expect(trials > 0 && trials <= 100)
  }
}
