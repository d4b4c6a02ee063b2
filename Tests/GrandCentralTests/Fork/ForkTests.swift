// Queues in a forked child: contract row T6.
import CFaults
import GrandCentral
import TestSupport
import Testing

private let hasRing = DispatchIO.fileBackend.kind == .uring

/// Each test runs in a process of its own: see Tests/Probes/ForkProbe. The thread sanitizer does
/// not support threads in a child of a process that had threads, and reports that.
@Suite("A forked child", .serialized, .disabled(if: faults_is_thread_sanitized()))
struct ForkTests {
  private func run(
    _ scenario: String, childExits: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    runForks(scenario, childExits: childExits, sourceLocation: sourceLocation)
  }

  @Test func `uses queues, groups, timers, sources and channels`() { run("main") }

  @Test func `may be the first to use them`() { run("unused") }

  @Test func `may be the first to use queues after a wait for a semaphore`() { run("waited") }

  @Test func `has the observer that the parent was about to add`() { run("environment") }

  @Test func `continues after the item that forked`() { run("worker") }

  @Test func `continues after the event handler that forked`() { run("handler") }

  @Test func `finds every queue idle, whatever other threads did`() { run("busy") }

  @Test func `runs nothing that was queued before, which the parent runs once`() { run("queued") }

  @Test func `finds suspended queues suspended`() { run("suspended") }

  @Test func `runs no delayed work of the parent`() { run("later") }

  @Test func `finds timers disarmed, and may reschedule them`() { run("timers") }

  @Test func `runs no cancel handler of a timer that the parent has cancelled`() {
    run("cancelled-timers")
  }

  @Test func `ends when its only thread ends`() { run("last-thread", childExits: true) }

  @Test func `gets no events from the parent's descriptor sources, and all from its own`() {
    run("descriptors")
  }

  @Test func `finds the actions of signals that the program set`() { run("signals") }

  @Test func `gets user data that it merges itself`() { run("data") }

  @Test func `holds the queues that its thread held, and releases them`() { run("inside") }

  @Test func `is counted by the queues through which its item came`() { run("barrier") }

  @Test func `continues after an item of the main queue`() { run("main-item") }

  @Test func `has a main queue, wherever it was forked`() { run("main-queue") }

  /// The address sanitizer takes the join of a thread in the child for a second one.
  @Test(.enabled(if: !isSanitized))
  func `has a main thread again after the parent's has ended`() {
    run("main-ended", childExits: true)
  }

  @Test func `is refused by the parent's channels, which stay the parent's`() { run("channels") }

  @Test(.enabled(if: hasRing, "needs io_uring"))
  func `keeps descriptors under the numbers of the parent's ring when it forks`() { run("numbers") }

  @Test(.enabled(if: hasRing, "needs io_uring"))
  func `has closed the parent's ring before handlers of the program run`() {
    run("program-handler")
  }

  @Test func `does not wait for a thread that stood at the fork gate`() { run("caught") }

  @Test func `runs notifications that wait for the forking thread alone`() {
    run("notifications")
  }

  @Test func `has its own copy of a semaphore's permits`() { run("semaphore") }

  @Test func `may fork again`() { run("grandchildren") }

  @Test func `has a run loop descriptor of its own under the same number`() { run("run-loop") }
}

/// This test runs under the thread sanitizer too, where a child may do nothing else.
@Suite("A forked child that uses nothing", .serialized) struct ForksOnlyTests {
  @Test func `may fork again`() { runForks("forks") }
}

/// `childExits`: a child ends by exit(3). A leak checker would then report what the stacks of the
/// parent's threads held, which do not exist in the child.
private func runForks(
  _ scenario: String, childExits: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
) {
  let result = runProbe(
    "ForkProbe", scenario, environment: childExits ? ["ASAN_OPTIONS": "detect_leaks=0"] : [:],
    seconds: 3 * deadlineSeconds)
  let failed = result.lines.filter { $0.hasPrefix("FAILED") }
  #expect(
    result.status == 0 && failed.isEmpty && result.errors.isEmpty,
    "status \(result.status ?? -1), signal \(result.signal ?? 0): \(failed)\n\(result.errors)",
    sourceLocation: sourceLocation)
  #expect(
    result.lines.contains { $0.hasPrefix("ok ") }, "\(result.output)",
    sourceLocation: sourceLocation)
}
