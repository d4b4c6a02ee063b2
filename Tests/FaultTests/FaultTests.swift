// Faults of the machine, each in its own process: see Tests/Probes/FaultProbe, which checks the
// work. No crash and no lost work; async() never waits; a report with the fix if the engine can do
// less; full recovery when the fault is gone.
// Shows contract row T2.
import Glibc
import TestSupport
import Testing

/// Runs one scenario and expects all checks to pass that are not reported as skipped.
@discardableResult
func run(
  _ scenario: String, probe: String = "FaultProbe", launcher: [String] = [],
  environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) -> ChildResult {
  let result = runProbe(
    probe, scenario, environment: environment, launcher: launcher, seconds: 2 * deadlineSeconds)
  #expect(
    result.status == 0 && result.lines.contains { $0.hasPrefix("ok ") || isSkip($0) },
    "\(scenario): signal \(result.signal ?? 0): \(result.output)\(result.errors)",
    sourceLocation: sourceLocation)
  for line in result.lines where isSkip(line) { print("\(scenario): \(line)") }
  return result
}

func isSkip(_ line: String) -> Bool { line.hasPrefix("skipped ") }

/// Expects that the shortage of threads was reported once, with the fix.
private func expectReport(
  of result: ChildResult, sourceLocation: SourceLocation = #_sourceLocation
) {
  if result.lines.contains(where: isSkip) { return }
  let reports = result.errors.split(separator: "\n").filter {
    $0.hasPrefix("GRAND CENTRAL: The system refused a thread")
  }
  #expect(reports.count == 1, "\(result.errors)", sourceLocation: sourceLocation)
  for word in ["errno 11", "ulimit -u", "pids.max", "ulimit -v", "GRANDCENTRAL_THREADS"] {
    #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: sourceLocation)
  }
}

@Suite("Without threads", .serialized) struct ThreadFaultTests {
  /// Disables glibc's cache of stacks, from which a new thread would get an old stack despite the
  /// limit.
  private let noStackCache = ["GLIBC_TUNABLES": "glibc.pthread.stack_cache_size=0"]

  @Test(
    arguments: ["processes", "memory"],
    ["group", "semaphore", "sync", "item", "deadline", "main", "asleep"])
  func `queued work runs once a thread can be created, for any kind of waiter`(
    _ limit: String, _ waiter: String
  ) {
    expectReport(of: run("refused:\(limit):\(waiter)", environment: noStackCache))
  }

  @Test(arguments: ["processes", "memory"], [1, 2, 5])
  func `existing workers run the work`(_ limit: String, _ count: Int) {
    var environment = noStackCache
    environment["GRANDCENTRAL_WIDTH"] = "2"
    expectReport(of: run("refused-later:\(limit):\(count):items-end", environment: environment))
  }

  @Test(arguments: ["processes", "memory"], [1, 2, 5])
  func `more are created when the limit allows, while all sleep without a waiter`(
    _ limit: String, _ count: Int
  ) {
    var environment = noStackCache
    environment["GRANDCENTRAL_WIDTH"] = "2"
    expectReport(of: run("refused-later:\(limit):\(count):items-wait", environment: environment))
  }

  @Test func `calls without a thread work, and others wait`() {
    // The leak checker needs a thread.
    expectReport(of: run("never", environment: ["ASAN_OPTIONS": "detect_leaks=0"]))
  }
}

@Suite("Events when the system refuses resources", .serialized) struct EventFaultTests {
  @Test func `wait until a descriptor is free, and timers do not`() {
    let result = run("events-descriptors")
    #expect(result.errors.contains("The system refused what events need (errno 24"))
    #expect(result.errors.contains("ulimit -n"))
  }

  @Test(arguments: ["create", "control", "timer", "wake"])
  func `continue without a call that is always refused, where possible`(call: String) {
    let result = run("events-refused:\(call)")
    if call != "control" && !result.lines.contains(where: isSkip) {
      #expect(result.errors.contains("The system refused what events need"))
    }
  }

  @Test func `wait until a thread can be created`() {
    run("events-threads", environment: ["GLIBC_TUNABLES": "glibc.pthread.stack_cache_size=0"])
  }

  @Test func `are not disturbed by signals`() { run("events-signals") }
}

@Suite("Files without io_uring", .serialized) struct TransferFaultTests {
  @Test(arguments: ["EPERM", "ENOSYS", "ENOMEM"])
  func `are read and written by workers when it is refused, which is reported on request`(
    error: String
  ) {
    #expect(run("transfers:setup:\(error)").errors.isEmpty)
    let asked = run("transfers:setup:\(error)", environment: ["GRANDCENTRAL_IO": "uring"])
    let reports = asked.errors.split(separator: "\n").filter {
      $0.hasPrefix(
        "GRAND CENTRAL: GRANDCENTRAL_IO='uring', and the system refuses io_uring (errno ")
    }
    #expect(asked.lines.contains(where: isSkip) || reports.count == 1, "\(asked.errors)")
  }

  @Test(arguments: ["register", "wake"])
  func `are read and written by workers without a wake-up descriptor`(call: String) {
    run("transfers:\(call):ENOMEM")
  }

  @Test func `continue on workers when it is refused midway, which is reported on request`() {
    #expect(run("transfers:enter:EPERM").errors.isEmpty)
    let result = run("transfers:enter:EPERM", environment: ["GRANDCENTRAL_REPORTS": "all"])
    let reports = result.errors.split(separator: "\n").filter {
      $0.hasPrefix("GRAND CENTRAL: The system does not let the process use its io_uring any more")
    }
    #expect(result.lines.contains(where: isSkip) || reports.count == 1, "\(result.errors)")
  }

  @Test(arguments: ["EAGAIN", "EBUSY", "ENOMEM"])
  func `lose nothing while it accepts nothing`(error: String) {
    #expect(run("transfers:enter:\(error)").errors.isEmpty)
  }

  @Test func `are read and written by workers without a descriptor for it`() {
    #expect(run("transfers:descriptors").errors.contains("errno 24"))
  }

  @Test func `are not disturbed by signals`() { run("transfers:signals") }

  @Test func `are not read or written by a child with its parent's ring`() {
    run("transfers:forked")
  }

  @Test(arguments: ["", "fast", "URING"])
  func `use the default backend when the environment names an unknown one`(
    value: String
  ) {
    let result = run("transfers:plain", environment: ["GRANDCENTRAL_IO": value])
    #expect(
      result.errors
        == "GRAND CENTRAL: GRANDCENTRAL_IO='\(value)' is neither 'uring' nor 'workers' and is ignored.\n"
    )
  }
}

@Suite("When the system refuses resources", .serialized) struct MachineFaultTests {
  @Test func `work runs while no descriptor is free`() {
    run("descriptors", environment: ["GRANDCENTRAL_WIDTH": "1"])
  }

  @Test func `files are watched once a descriptor is free, and report missed events`() {
    let result = run("files:descriptors")
    #expect(result.errors.contains("errno 24") && result.errors.contains("ulimit -n"))
  }

  @Test(
    .enabled(if: userNamespaces, "needs a user namespace: unshare(1) with --user"))
  func `files are watched once a watch is free, and report missed events`() {
    let result = run("files:watches", launcher: ["unshare", "--user", "--map-root-user"])
    let isSkipped = result.lines.contains(where: isSkip)
    #expect(isSkipped || result.errors.contains("errno 28"), "\(result.errors)")
    #expect(isSkipped || result.errors.contains("max_user_watches"), "\(result.errors)")
  }

  @Test func `work runs in a sandbox that refuses newer system calls`() {
    run("sandbox", environment: ["GRANDCENTRAL_WIDTH": "1"])
  }

  @Test func `a process source reports the exit in a sandbox without pidfd_open`() {
    run("sandboxed-processes")
  }

  @Test func `signals end no wait early and lose no wake-up`() { run("signals") }

  @Test func `the process may be stopped and continued`() { run("stopped") }

  @Test func `a worker that hardly runs does not hold up the others`() { run("slow-worker") }

  @Test func `the width follows the CPU mask while work runs`() { run("cpus") }

  @Test func `a CPU mask that changes counts for the first item and the next loop`() {
    // In a new process each time, because only the first items of a process are of interest. Beside
    // other load a worker may sleep for a moment, as for a page, and another one takes an item.
    var peak = Int.max
    for _ in 0..<5 where peak > 1 {
      let result = run("cpus-before-use")
      if result.lines.contains(where: isSkip) { return }
      peak = min(peak, result.number("peak") ?? .max)
    }
    #expect(peak == 1, "one CPU before the first item: one item at a time")
  }

  @Test func `one CPU is enough`() {
    let cpus = contents(of: "/proc/self/status") ?? ""
    let line = cpus.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
    let first = line.drop { !$0.isNumber }.prefix { $0.isNumber }
    run("one-cpu", launcher: ["taskset", "-c", String(first)])
  }

  @Test func `waits follow the wall clock when it is set, or do not, as they say`() {
    run("step", probe: "ClockProbe")
  }

  @Test(
    .enabled(if: timeNamespaces, "needs a time namespace: unshare(1) with --time, and root"))
  func `deadlines hold where the clock began at another time`() {
    run("deadlines", launcher: ["unshare", "--time", "--monotonic", "10000000", "--fork"])
  }

  @Test(
    .enabled(
      if: processNamespaces, "needs a namespace of processes: unshare(1) with --pid, and root"))
  func `a process source reports the exit where the kernel hides forks, and says so`() {
    let result = run("changes", launcher: ["unshare", "--pid", "--fork"])
    let reports = result.errors.split(separator: "\n").filter {
      $0.hasPrefix("GRAND CENTRAL: A process source asks for forks or execs")
    }
    #expect(reports.count == 1, "\(result.errors)")
  }

  @Test(
    .enabled(
      if: QuotaGroup.isWritable(.cpu), "needs a writable control group of version 1, and root"))
  func `the width follows the quota of a control group`() throws {
    let group = try #require(QuotaGroup(.cpu, "width"))
    defer { group.remove() }
    run("quota", environment: ["FAULTS_GROUP": group.folder])
  }

  @Test(
    .enabled(
      if: QuotaGroup.isWritable(.memory), "needs a writable control group of version 1, and root"))
  func `memory pressure follows the use of a control group's limit`() throws {
    let group = try #require(QuotaGroup(.memory, "pressure"))
    defer { group.remove() }
    run("memory", environment: ["FAULTS_GROUP": group.folder])
  }
}

private let timeNamespaces =
  runChild(["unshare", "--time", "--monotonic", "1000", "--fork", "true"]).status == 0

private let processNamespaces = runChild(["unshare", "--pid", "--fork", "true"]).status == 0

private let userNamespaces =
  runChild(["unshare", "--user", "--map-root-user", "true"]).status == 0

@Suite("The report of a fault") struct FaultReportTests {
  private let report = "BUG IN CLIENT OF GRAND CENTRAL: Too many resumes."

  @Test func `stands before the backtrace and behind it`() {
    let result = runProbe(
      "FaultProbe", "report",
      environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no"],
      seconds: 2 * deadlineSeconds)
    let lines = result.errors.split(separator: "\n").map(String.init)
    #expect(lines.first == report && lines.last == report, "\(result)")
    #expect(result.errors.contains("clientFault"), "\(result)")
    #expect(result.signal != nil, "\(result)")
  }

  @Test func `is printed once if there is no backtrace`() {
    let result = runProbe("FaultProbe", "report")
    #expect(result.errors == report + "\n", "\(result)")
    #expect(result.signal != nil, "\(result)")
  }

  @Test func `leaves the end to a handler of the program`() {
    let result = runProbe("FaultProbe", "report:handler")
    #expect(result.errors == report + "\nhandled\nhandled\n", "\(result)")
    #expect(result.status == 3, "\(result)")
  }

  @Test func `does not end the process by SIGPIPE if no process reads it behind a backtrace`() {
    let result = runProbe("FaultProbe", "report:unread")
    #expect(result.signal == SIGILL || result.signal == SIGTRAP, "\(result)")
  }

  // A probe, because a thread reads its pipe at once. The test library reads an exit test's as late
  // as its tasks run.
  @Test func `is printed whole, however long it is`() {
    let result = runProbe("FaultProbe", "long-report", seconds: 2 * deadlineSeconds)
    let text = "BUG IN CLIENT OF GRAND CENTRAL: " + String(repeating: "x", count: 300_000) + ".\n"
    #expect(result.signal != nil)
    #expect(result.errors.contains(text), "\(result.errors.utf8.count) bytes")
  }
}
