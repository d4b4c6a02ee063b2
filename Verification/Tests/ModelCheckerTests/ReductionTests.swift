// Compares the reduced searches with the unreduced one, on some programs of
// `model self-test`.
import ModelSelfTest
import Testing

@Suite("The reduced search", .serialized)
struct ReductionTests {
  @Test func `finds every outcome that the unreduced one finds`() {
    var comparison = Comparison()
    for seed in 1...200 as ClosedRange<UInt64> {
      comparison.compare(seed: seed, maxExecutions: 3_000)
    }
    #expect(comparison.faults.isEmpty, "\(comparison.faults.joined(separator: "\n"))")
    #expect(comparison.compared > 120)
  }
}
