import TestSupport
import Testing

/// Each test runs a child process: see Tests/Probes/ConcurrencyProbe.
@Suite("A process whose Concurrency is taken over") struct TakeOverTests {
  @Test func `runs tasks, sleeps and the main actor on this engine's queues`() {
    let result = runProbe("ConcurrencyProbe", "")
    #expect(result.status == 0, "\(result.errors)")
    for name in ["taken", "global", "sleep", "main", "item", "again"] {
      #expect(result.value(name) == "true", "\(name)")
    }
    #expect(result.number("sum") == 500_500)
  }
}
