import ModelChecker
import Testing

@Suite("The modelled memory", .serialized)
struct LitmusTests {
  @Test(arguments: Litmus.table)
  func `allows exactly what the memory model allows`(litmus: Litmus) {
    #expect(litmus.outcomes(isWeak: false) == litmus.allowed(isWeak: false))
    #expect(litmus.outcomes(isWeak: true) == litmus.allowed(isWeak: true))
  }

  @Test(arguments: Litmus.table)
  func `is the same for every search`(litmus: Litmus) {
    for isWeak in [false, true] where litmus.threads.count < 4 {
      let allowed = litmus.allowed(isWeak: isWeak)
      #expect(litmus.outcomes(isWeak: isWeak, .naive) == allowed)
      #expect(
        litmus.outcomes(isWeak: isWeak, .random(executions: 100, seed: 1)).isSubset(of: allowed))
      #expect(
        litmus.outcomes(isWeak: isWeak, .priorities(depth: 2, executions: 100, seed: 1))
          .isSubset(of: allowed))
    }
  }
}
