// The main thread as a run loop: contract row Q7.
import TestSupport
import Testing

/// Each test runs a child process: see Tests/Probes/MainQueueProbe.
@Suite("The main thread") struct MainThreadTests {
  private func run(
    _ scenario: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> ChildResult {
    let result = runProbe("MainQueueProbe", scenario)
    #expect(
      result.status == 0, "signal \(result.signal ?? 0): \(result.output)\(result.errors)",
      sourceLocation: sourceLocation)
    return result
  }

  private func expectReport(
    _ scenario: String, says text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let result = runProbe("MainQueueProbe", scenario)
    #expect(result.status != 0, "did not stop", sourceLocation: sourceLocation)
    #expect(
      result.errors.contains("BUG IN CLIENT OF GRAND CENTRAL: " + text),
      "said: \(result.errors)", sourceLocation: sourceLocation)
  }

  @Test func `can be a run loop that drains the main queue`() {
    let result = run("run-loop")
    #expect(result.value("quiet") == "true")
    #expect(result.value("same") == "true")
    #expect(result.value("onMain") == "true")
    #expect(result.value("order") == "first,second,sync")
    #expect(result.value("joined") == "true")
  }

  @Test func `learns why a run loop has no descriptor`() {
    let result = run("no-descriptor")
    #expect(result.number("descriptor") == -1)
    #expect(result.value("isFull") == "true")
  }

  @Test func `is the only one that drains the main queue`() {
    expectReport("drain-elsewhere", says: "The main queue can be drained on the main thread only.")
  }

  @Test func `passes an error on to a sync of another thread`() {
    #expect(run("throws").value("caught") == "true")
  }

  @Test func `finds the main queue's values between its items, and no other thread does`() {
    let result = run("between")
    #expect(result.value("main") == "main")
    #expect(result.value("other") == "nothing")
    #expect(result.value("thread") == "nothing")
  }

  @Test func `cannot enter dispatchMain again from an item`() {
    expectReport(
      "nested-main", says: "dispatchMain() was called from an item of the main queue")
  }

  @Test func `is no later thread when it has ended before the process`() {
    let result = runProbe("MainQueueProbe", "ended")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.value("specific") == "none")
  }

  @Test func `leaves the main queue to workers when it ends before the process`() {
    let result = run("drained-after-end")
    #expect(result.value("log") == "before,sync,timer")
    #expect(result.value("specific") == "main")
    #expect(result.number("count") == 4000)
    #expect(result.value("onMain") == "false")
    let stuck = runProbe("MainQueueProbe", "self-sync-after-end")
    #expect(stuck.status != 0)
    #expect(stuck.errors.contains("'com.apple.main-thread'"), "\(stuck.errors)")
  }

  @Test func `leaves the main queue to workers when it ends in an item of that`() {
    let result = run("ended-in-item")
    #expect(result.value("log") == "queued,sync" && result.value("onMain") == "false", "\(result)")
  }

  @Test func `is named when a precondition fails on it`() {
    let outside = "on the main thread, outside every other queue."
    let result = runProbe("MainQueueProbe", "outside")
    #expect(result.status != 0)
    #expect(result.errors.contains("'expected.queue', but runs " + outside), "\(result.errors)")
  }
}
