// Room: ModelSelfTest/Comparison. Compares each search with the unreduced one. A reduction that
// misses outcomes is worse than none.
//   exhaustive       finds the same outcomes
//   bounded by k     finds the outcomes that need at most k preemptions, and no outcome that the
//                    unreduced search does not find
//   random, PCT      find no outcome that the unreduced search does not find
internal import ModelChecker

package struct Comparison: Sendable {
  package var compared = 0
  /// The number of programs whose unreduced search is too long.
  package var skipped = 0
  package var naiveExecutions = 0
  package var reducedExecutions = 0
  /// Descriptions of the outcomes that only one of two searches found.
  package var faults: [String] = []

  package init() {}

  package mutating func compare(seed: UInt64, maxExecutions: Int = 60_000) {
    let program = RandomProgram(seed: seed)
    let (all, naive) = program.outcomes(.naive, maxExecutions: maxExecutions)
    guard naive.isComplete else {
      skipped += 1
      return
    }
    compared += 1
    naiveExecutions += naive.executions
    let (found, reduced) = program.outcomes(.exhaustive)
    reducedExecutions += reduced.executions
    demand(Set(all.keys), of: found, allowing: all, "exhaustive", program)
    for most in 0...2 {
      let within = Set(all.filter { $0.value <= most }.keys)
      let (found, _) = program.outcomes(.bounded(preemptions: most))
      demand(within, of: found, allowing: all, "bounded by \(most)", program)
    }
    for strategy in [
      Strategy.random(executions: 30, seed: seed),
      .priorities(depth: 3, executions: 30, seed: seed),
    ] {
      let (found, _) = program.outcomes(strategy)
      demand([], of: found, allowing: all, "\(strategy)", program)
    }
  }

  private mutating func demand(
    _ reachable: Set<[Int]>, of found: Outcomes, allowing all: Outcomes, _ search: String,
    _ program: RandomProgram
  ) {
    // A failing execution ends at the failure, and a search sees nothing that would follow. So if a
    // race is reachable, a search need only find the race.
    let wanted = reachable.contains(Rehearsal.race) ? [Rehearsal.race] : reachable
    let missed = wanted.subtracting(found.keys)
    let invented = Set(found.keys).subtracting(all.keys)
    if missed.isEmpty && invented.isEmpty { return }
    faults.append(
      "\(search): \(missed.count) of \(wanted.count) outcomes missed, \(invented.count) invented: "
        + "missed \(Array(missed.prefix(3))), invented \(Array(invented.prefix(3)))\n\(program)")
  }
}
