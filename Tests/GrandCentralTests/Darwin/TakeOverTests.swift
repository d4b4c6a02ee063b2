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

  @Test func `runs jobs of the main actor at their priority, and never lowers the main thread`() {
    let result = runProbe("ConcurrencyProbe", "classes")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.value("priorities") == "9 17 21 25", "\(result)")
    func four(_ name: String) -> String {
      Array(repeating: name, count: 4).joined(separator: " ")
    }
    #expect(result.value("classes") == four("userInteractive"), "\(result)")
    #expect(result.value("passed") == four("userInitiated"), "\(result)")
  }

  @Test func `stops with a message in an async main function`() {
    let result = runProbe(
      "AsyncMainProbe", "", environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(result.status != 0 && result.lines.isEmpty, "\(result)")
    #expect(
      result.errors.hasPrefix(
        "BUG IN CLIENT OF GRAND CENTRAL: Swift Concurrency was taken over in an async main function. "
          + "Call takeOverConcurrency() in a synchronous main function"), "\(result)")
  }
}
