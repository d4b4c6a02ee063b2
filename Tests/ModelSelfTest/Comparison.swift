// Room: ModelSelfTest/Comparison. Each search against the one that leaves nothing out: a reduction
// that misses outcomes is worse than none.
//   exhaustive       finds the same outcomes
//   bounded by k     finds those that need at most k preemptions, and none that the other does not
//   random, PCT      find none that the other does not
internal import ModelChecker

package struct Comparison: Sendable {
  package var compared = 0
  /// Programs whose unreduced search is too long.
  package var skipped = 0
  package var naiveExecutions = 0
  package var reducedExecutions = 0
  /// What one search found and another did not.
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
    // An execution that fails ends there, and what would have come is not looked at. That a failure
    // is found is all that is promised then.
    let wanted = reachable.contains(Rehearsal.race) ? [Rehearsal.race] : reachable
    let missed = wanted.subtracting(found.keys)
    let invented = Set(found.keys).subtracting(all.keys)
    if missed.isEmpty && invented.isEmpty { return }
    faults.append(
      "\(search): \(missed.count) of \(wanted.count) outcomes missed, \(invented.count) invented: "
        + "missed \(Array(missed.prefix(3))), invented \(Array(invented.prefix(3)))\n\(program)")
  }
}
