// The reduced search against the unreduced one: a reduction that misses outcomes is worse than none.
import ModelChecker
import Testing

@Suite("The reduced search", .serialized)
struct ReductionTests {
  private func options(_ strategy: Strategy, isWeak: Bool) -> Options {
    var options = Options()
    options.strategy = strategy
    options.isWeak = isWeak
    options.spuriousFailures = isWeak ? 0 : 1
    options.timeOuts = 1
    options.mostExecutions = 60_000
    return options
  }

  @Test(arguments: [false, true])
  func `finds every outcome that the unreduced one finds`(isWeak: Bool) {
    var compared = 0
    var saved = (reduced: 0, naive: 0)
    for seed in 1...1500 as ClosedRange<UInt64> {
      let program = RandomProgram(seed: seed)
      let (all, naive) = program.outcomes(options(.naive, isWeak: isWeak))
      guard naive.isComplete else { continue }
      let (found, reduced) = program.outcomes(options(.exhaustive, isWeak: isWeak))
      compared += 1
      saved.reduced += reduced.executions
      saved.naive += naive.executions
      #expect(found == all, "seed \(seed):\n\(program)\nmissed \(all.subtracting(found))")
      #expect(reduced.isComplete)
    }
    print("compared \(compared), executions \(saved)")
    #expect(compared > 1000)
  }
}
