// Last references: contract row Q26.
import TestSupport
import Testing

/// Runs Tests/Probes/LifetimeProbe in a child process. `scripts/dev lifetimes` runs the probe built
/// with optimisation and the address sanitizer, which detects a use after free.
@Suite("The last reference to an object") struct LifetimeTests {
  @Test func `may be released by the effect of any call`() {
    let result = runProbe(
      "LifetimeProbe", "60", environment: ["MALLOC_PERTURB_": "85"], seconds: deadlineSeconds * 2)
    #expect(result.number("ended") ?? 0 > 0)
    #expect(result.status == 0, "\(result.errors)")
  }
}
