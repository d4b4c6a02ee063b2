// The main queue: contract row Q7.
import TestSupport
import Testing

/// Each test runs a child process: see Tests/Probes/MainQueueProbe.
@Suite("The main queue") struct MainQueueTests {
  private func run(
    _ scenario: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> ChildResult {
    let result = runProbe("MainQueueProbe", scenario)
    #expect(
      result.status == 0, "signal \(result.signal ?? 0): \(result.output)\(result.errors)",
      sourceLocation: sourceLocation)
    return result
  }

  @Test func `runs items in order on the main thread`() {
    let result = run("order")
    #expect(result.value("inOrder") == "true")
    #expect(result.value("onMain") == "true")
  }

  @Test func `runs the main actor's jobs of a program that only imports the product`() {
    let result = run("main-actor")
    #expect(result.number("count") == 2000)
    #expect(result.value("onMain") == "true")
  }

  @Test func `takes items from many threads, one at a time`() {
    let result = run("producers")
    #expect(result.number("count") == 10_000)
    #expect(result.value("onMain") == "true")
  }

  @Test func `runs sync from elsewhere on the main thread`() {
    let result = run("sync")
    #expect(result.value("onMain") == "true")
    #expect(result.value("item") == "true")
    #expect(result.number("value") == 42)
  }

  @Test func `runs the work of queues that target it`() {
    let result = run("target")
    for kind in ["sync", "wideSync", "async"] { #expect(result.value(kind) == "true") }
  }

  @Test func `receives notifications of groups and work items`() {
    let result = run("notify")
    #expect(result.value("group") == "true")
    #expect(result.value("item") == "true")
  }

  @Test func `works after suspend and resume`() {
    #expect(run("suspend").value("ran") == "true")
  }

  @Test func `carries specifics and a label`() {
    let result = run("specific")
    #expect(result.value("inside") == "main")
    #expect(result.value("child") == "main")
    #expect(result.value("label") == "com.apple.main-thread")
  }

  @Test func `belongs to the main thread before dispatchMain too`() {
    #expect(run("before").value("held") == "true")
  }

  @Test func `wakes its sleeping thread for late work`() {
    #expect(run("idle").value("onMain") == "true")
  }

  @Test(arguments: ["self-sync", "inside-sync"])
  func `reports sync from the main thread`(_ scenario: String) {
    expectReport(runProbe("MainQueueProbe", scenario), names: ["com.apple.main-thread"])
  }

  @Test func `reports a deadlock cycle through the main thread`() {
    expectReport(
      runProbe("MainQueueProbe", "cycle"), names: ["com.apple.main-thread", "waits.for.main"])
  }

  @Test func `reports a failed precondition with its label`() {
    expectReport(runProbe("MainQueueProbe", "not-on-main"), names: ["com.apple.main-thread"])
  }

  private func expectReport(
    _ result: ChildResult, names: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status != 0, "did not stop", sourceLocation: sourceLocation)
    #expect(
      result.errors.contains("BUG IN CLIENT OF GRAND CENTRAL: "), "said: \(result.errors)",
      sourceLocation: sourceLocation)
    for name in names {
      #expect(result.errors.contains(name), sourceLocation: sourceLocation)
    }
  }
}
