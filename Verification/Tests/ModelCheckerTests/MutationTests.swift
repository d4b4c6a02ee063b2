import ModelChecker
import Testing

@Suite("A mutation", .serialized)
struct MutationTests {
  /// Returns the outcomes of a scene whose operation at `line` is changed.
  private func values(
    _ change: Mutation.Change?, line: UInt32, isWeak: Bool = false, count: Int = 2,
    _ body: @escaping @Sendable (Bench, Int) -> Void
  ) -> Set<[Int]> {
    let found = Box<Set<[Int]>>([])
    let model = Model("mutated") { scene in
      let bench = Bench(3)
      for thread in 0..<count { scene.thread { body(bench, thread) } }
      scene.finally {
        found.value.insert(bench.registers.prefix(2) + [bench.x.load(ordering: .relaxed)])
      }
    }
    var options = Options()
    options.isWeak = isWeak
    if let change {
      options.mutations = [Mutation(change, file: "MutationTests.swift", line: line)]
    }
    let outcome = model.check(options)
    if let failure = outcome.failure { found.value.insert([failure.message.count, -99]) }
    return found.value
  }

  @Test(
    arguments: [
      (nil, [3]), (.skips, [0]), (.clears(bits: 1), [2]), (.sets(bits: 4), [7]),
    ] as [(Mutation.Change?, [Int])])
  func `changes what a store writes`(change: Mutation.Change?, last: [Int]) {
    let line: UInt32 = #line + 2
    let found = values(change, line: line, count: 1) { bench, _ in
      bench.x.store(3, ordering: .relaxed)
    }
    #expect(found == [[0, 0] + last])
  }

  @Test func `changes what a load returns`() {
    let line: UInt32 = #line + 2
    let found = values(.returns(8), line: line, count: 1) { bench, _ in
      bench.registers[0] = bench.x.load(ordering: .relaxed)
    }
    #expect(found == [[8, 0, 0]])
  }

  @Test func `splits an addition`() {
    for (change, lasts) in [(nil, [2]), (.splits, [1, 2])] as [(Mutation.Change?, Set<Int>)] {
      let line: UInt32 = #line + 2
      let found = values(change, line: line) { bench, _ in
        bench.x.wrappingAdd(1, ordering: .relaxed)
      }
      #expect(Set(found.map { $0[2] }) == lasts)
    }
  }

  @Test func `makes an exchange blind or splits it`() {
    for (change, winners) in [
      (nil, [1]), (.isBlind, [2]), (.splits, [1, 2]),
    ] as [(Mutation.Change?, Set<Int>)] {
      let line: UInt32 = #line + 2
      let found = values(change, line: line) { bench, thread in
        let won = bench.x.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged
        bench.registers[thread] = won ? 1 : 0
      }
      #expect(Set(found.map { $0[0] + $0[1] }) == winners)
    }
  }

  @Test(
    arguments: [
      (nil, false), (.relaxes, true), (.dropsRelease, true), (.dropsAcquire, false),
      (.dropsSequential, false),
    ] as [(Mutation.Change?, Bool)])
  func `weakens an ordering`(change: Mutation.Change?, isSeen: Bool) {
    let line: UInt32 = #line + 4
    let found = values(change, line: line, isWeak: true) { bench, thread in
      if thread == 0 {
        bench.x.store(1, ordering: .relaxed)
        bench.y.store(1, ordering: .sequentiallyConsistent)
      } else {
        bench.registers[0] = bench.y.load(ordering: .acquiring)
        bench.registers[1] = bench.x.load(ordering: .relaxed)
      }
    }
    #expect(found.contains([1, 0, 1]) == isSeen)
  }

  @Test func `wakes one instead of all, none, or makes a sleeper skip its check`() {
    for (change, isDeadlock) in [
      (nil, false), (.wakesOne, true), (.skips, true),
    ] as [(Mutation.Change?, Bool)] {
      let line: UInt32 = #line + 4
      let found = values(change, line: line, count: 3) { bench, thread in
        if thread == 0 {
          bench.x.store(1, ordering: .relaxed)
          Checker.futexWake(bench.x.modelWord, count: .max)
        } else {
          _ = Checker.futexWait(bench.x.modelWord, mask: .max, while: 0, until: nil)
        }
      }
      #expect(found.contains { $0.last == -99 } == isDeadlock)
    }
  }

  @Test(arguments: [nil, Mutation.Change.oversleeps])
  func `makes a sleeper ignore its deadline`(_ change: Mutation.Change?) {
    let line: UInt32 = #line + 2
    let found = values(change, line: line, count: 1) { bench, _ in
      _ = Checker.futexWait(bench.x.modelWord, mask: .max, while: 0, until: .max - 1)
    }
    #expect(found.contains { $0.last == -99 } == (change == .oversleeps))
  }

  @Test func `is at one line of one file`() {
    let line: UInt32 = #line + 6
    var options = Options()
    options.mutations = [Mutation(.skips, file: "Tests.swift", line: line)]
    let found = Box(0)
    let model = Model("not mutated") { scene in
      let bench = Bench(1)
      scene.thread { bench.x.store(1, ordering: .relaxed) }
      scene.finally { found.value = bench.x.load(ordering: .relaxed) }
    }
    #expect(model.check(options).failure == nil)
    #expect(found.value == 1)
  }
}
