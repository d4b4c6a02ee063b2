// Threads: how many, how they are named, when they end: contract rows Q1, Q17, Q22, T1, T3, T5, P7.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

/// Each test runs a child process without other threads: see Tests/Probes/PoolProbe.
@Suite("The pool", .serialized) struct PoolTests {
  private func run(
    _ scenario: String, environment: [String: String] = [:], launcher: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> ChildResult {
    let result = runProbe(
      "PoolProbe", scenario, environment: environment, launcher: launcher,
      seconds: 2 * deadlineSeconds)
    #expect(
      result.status == 0, "signal \(result.signal ?? 0): \(result.output)\(result.errors)",
      sourceLocation: sourceLocation)
    return result
  }

  @Test func `starts no thread for a queue`() {
    #expect(run("queues").number("threads") == 0)
  }

  @Test func `uses its workers again`() throws {
    #expect(try #require(run("reuse").number("workers")) <= 8)
  }

  @Test func `wakes no thread when idle`() throws {
    let result = run("idle")
    // A worker may leave meanwhile; it wakes once to do so.
    let threads = try #require(result.number("threads"))
    #expect(try #require(result.number("wakeUps")) <= threads)
    #expect(result.number("newThreads") == 0)
  }

  @Test func `ends idle workers`() throws {
    let result = run("leave")
    #expect(try #require(result.number("busy")) >= 16)
    #expect(try #require(result.number("idle")) <= 4)
  }

  @Test(arguments: [1, 2, 3])
  func `takes its width from the environment`(_ width: Int) throws {
    try expectWidth(width, run("width", environment: ["GRANDCENTRAL_WIDTH": "\(width)"]))
  }

  @Test func `takes its width from the CPU mask`() throws {
    try expectWidth(1, run("width", launcher: ["taskset", "-c", "\(firstAllowedCPU())"]))
  }

  /// Expects peaks around `width`. On a loaded machine a worker that begins late lowers the peak of
  /// a round, and a worker that only lacks a CPU raises it. A wrong width shows in every round.
  private func expectWidth(
    _ width: Int, _ result: ChildResult, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let lowest = try #require(result.number("lowestPeak"), sourceLocation: sourceLocation)
    let highest = try #require(result.number("highestPeak"), sourceLocation: sourceLocation)
    #expect(lowest <= width, sourceLocation: sourceLocation)
    #expect(highest >= width, sourceLocation: sourceLocation)
  }

  @Test func `bounds concurrentPerform by its width`() throws {
    let result = run("perform-width", environment: ["GRANDCENTRAL_WIDTH": "2"])
    #expect(try #require(result.number("peak")) <= 2)
  }

  @Test func `replaces blocked workers at once`() throws {
    // Milliseconds on a quiet machine; the peer needs a second for each worker. On a loaded machine
    // a single try may take long, so the fastest of five counts. Each runs in a new process: a pool
    // that has threads already does not show how soon it makes them.
    var fastest = Int.max
    for _ in 0..<5 where fastest >= 3000 {
      let result = run("compensation", environment: ["GRANDCENTRAL_WIDTH": "2"])
      let unannounced = try #require(result.number("unannouncedMilliseconds"))
      let announced = try #require(result.number("announcedMilliseconds"))
      fastest = min(fastest, max(unannounced, announced))
    }
    #expect(fastest < 3000)
  }

  @Test func `bounds its threads for a thousand sleeping items`() throws {
    #expect(try #require(run("sleepers").number("peakThreads")) <= 130)
  }

  @Test func `does not make a thread for each of 300 blocked queues`() throws {
    let result = run("blocked")
    #expect(result.value("done") == "true")
    #expect(try #require(result.number("peakThreads")) < 300)
  }

  @Test func `finishes 500 items that each block on the next`() {
    #expect(run("chain").value("finished") == "true")
  }

  @Test func `names the queues that hold the threads at the limit`() {
    let result = run("limit", environment: ["GRANDCENTRAL_THREADS": "16"])
    #expect(result.value("done") == "true")
    for name in ["holder.0", "holder.1", "GRANDCENTRAL_THREADS"] {
      #expect(result.errors.contains(name), "\(result.errors)")
    }
    // The report may come while some of the 16 threads are about to take their items.
    #expect(
      result.errors.contains(/GRAND CENTRAL: \d+ threads are held by items/), "\(result.errors)")
  }

  @Test func `names concurrent and global queues that hold the threads, too`() {
    let result = run("limit-concurrent", environment: ["GRANDCENTRAL_THREADS": "16"])
    #expect(result.value("done") == "true")
    for name in ["'holder.concurrent'", "'\(DispatchQueue.global(qos: .userInitiated).label)'"] {
      #expect(result.errors.contains(name), "\(result.errors)")
    }
  }

  @Test func `names its workers`() throws {
    let result = run("names")
    let process = try #require(result.value("process"))
    let workers = try #require(result.value("workers")).split(separator: "|")
    #expect(workers.count == 2)
    for worker in workers { #expect(worker != process) }
  }

  @Test func `names a woken thread after its queue, and idle ones as before`() {
    let result = run("quiet-names")
    for (kind, name) in [
      ("serial", "quiet.serial"), ("concurrent", "quiet.together"), ("barrier", "quiet.together"),
      ("inner", "quiet.inner"), ("long", "quiet.äöüä"), ("after", "quiet.serial"),
    ] {
      #expect(result.value(kind) == name, "\(kind)")
    }
    #expect(result.value("global")?.hasPrefix("gc-worker") == true)
    for kind in ["becamePlain", "kept", "becamePlainAgain", "process", "sync"] {
      #expect(result.value(kind) == "true", "\(kind)")
    }
  }

  @Test func `names a thread that runs a source's handler after the source's queue`() {
    let result = run("quiet-handler-names")
    for kind in ["Timer", "Data"] {
      #expect(result.value("serial" + kind) == "quiet.serial", "\(kind)")
      #expect(result.value("concurrent" + kind) == "quiet.together", "\(kind)")
    }
    #expect(result.value("becamePlain") == "true")
  }

  @Test func `never leaves a thread the label of a queue that it has left`() throws {
    let result = run("passing-names")
    #expect(result.number("wrong") == 0)
    #expect(try #require(result.number("labelled")) > 0)
    #expect(result.value("becamePlain") == "true")
  }

  @Test func `names a thread after the queue that others target while that one's items run`() {
    #expect(run("outer-names").value("names") == "names.inner|names.outer")
  }

  @Test func `blocks on its threads the signals from outside, and no others`() throws {
    let result = run("masks")
    #expect(try #require(result.number("threads")) >= 10)
    for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, 34, 64] {
      #expect(result.number("open\(number)") == 0, "signal \(number)")
    }
    for number in [SIGSEGV, SIGBUS, SIGABRT, SIGPIPE, SIGPROF, SIGTTIN] {
      #expect(result.number("blocked\(number)") == 0, "signal \(number)")
    }
  }

  @Test(.disabled(if: faults_is_sanitized(), "sanitizers have their own functions for children"))
  func `leaves the signal mask of children empty`() {
    #expect(run("signals").value("blocked").flatMap { UInt64($0, radix: 16) } == 0)
  }

  @Test func `shows recognisable frames below a crashed item and in idle workers`() {
    let result = runProbe(
      "PoolProbe", "crash",
      environment: ["SWIFT_BACKTRACE": "enable=yes,threads=all,interactive=no,color=no"],
      seconds: 2 * deadlineSeconds)
    #expect(result.status != 0)
    let frames = result.errors + result.output
    for name in ["clientFunction", "callout", "worker"] {
      #expect(frames.lowercased().contains(name.lowercased()), "\(frames)")
    }
  }

  @Test func `starts higher classes first when it is full`() {
    // A class that waits for two looks of the monitor beside a higher one gets a worker of its own.
    // On a loaded machine the scene may take that long, so only a run in less counts. Each runs in
    // a new process: a worker also serves all classes in turn, at every 61st pick. A worker that
    // comes early can only disturb the order.
    let expected = "userInteractive,userInitiated,default,utility,background"
    var order: String?
    let isQuick = eventually {
      let result = run("priority", environment: ["GRANDCENTRAL_WIDTH": "1"])
      order = result.value("order")
      guard let microseconds = result.number("microseconds") else { return true }
      return order == expected || microseconds < 700
    }
    #expect(isQuick)
    #expect(order == expected)
  }

  @Test func `does not starve background work`() {
    #expect(run("background", environment: ["GRANDCENTRAL_WIDTH": "1"]).value("ran") == "true")
  }
}

/// A CPU of this process's mask, as `taskset` names it.
func firstAllowedCPU() -> Int {
  let status = contents(of: "/proc/self/status") ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
  return Int(line.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0
}
