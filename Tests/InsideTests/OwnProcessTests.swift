// Programs that look at themselves: handlers for what is stuck, and GRANDCENTRAL_DUMP_AFTER.
import Glibc
import TestSupport
import Testing

/// A probe whose output is read line by line. It ends with this object.
private final class WatchedProbe {
  let process: pid_t
  private let input: Int32
  private let output: Int32
  private var isOver = false
  private(set) var text = ""

  init(_ arguments: [String], environment: [String] = []) {
    let (down, up) = (makePipe(), makePipe())
    // The shell joins the streams.
    process = startChild(
      ["env"] + environment + ["sh", "-c", "exec \"$@\" 2>&1", "sh", "\(buildFolder)/HangProbe"]
        + arguments, input: down.read, output: up.write)
    close(down.read)
    close(up.write)
    input = down.write
    output = up.read
  }

  deinit {
    if !isOver {
      kill(process, SIGKILL)
      _ = waitFor(process)
      close(input)
    }
    close(output)
  }

  /// Reads the output until it contains `line`. Fails the test when it ends before.
  func read(until line: String) {
    while !text.contains(line) {
      guard readMore() else {
        Issue.record("no '\(line)' in: \(text)")
        return
      }
    }
  }

  /// Makes the probe forget a resume().
  func getStuck() { _ = write(input, "s", 1) }

  /// Ends the probe by its input, and reads the rest.
  func end() -> Int32? {
    // Their numbers may be another test's from now on.
    isOver = true
    close(input)
    while readMore() {}
    return waitFor(process).status
  }

  private func readMore() -> Bool {
    guard let more = nextText(from: output) else { return false }
    text += more
    return true
  }

  /// How often the thread with this name has slept; `nil`: there is none.
  func sleeps(ofThread name: String) -> Int? {
    for thread in namesInFolder("/proc/\(process)/task") ?? [] {
      let path = "/proc/\(process)/task/\(thread)"
      guard contents(of: "\(path)/comm") == "\(name)\n" else { continue }
      return contents(of: "\(path)/status")?.split(separator: "\n")
        .first { $0.hasPrefix("voluntary_ctxt_switches:") }
        .flatMap { Int($0.split(separator: "\t").last ?? "") }
    }
    return nil
  }
}

private let scenes = [
  ("deadlock", "Deadlock: 2 threads wait for each other."),
  (
    "blocked-by-group",
    "Suspected deadlock: 1 thread waits for queue 'stuck', whose item waits for a group"
  ),
  ("blocked", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
  // Reported once, with as many threads as wait by then.
  ("explosion", "Thread explosion: "),
  ("forgotten-resume", "Forgotten resume: queue 'asleep' is suspended since"),
  ("forgotten-leave", "Suspected forgotten leave: 1 thread waits for a group, and no thread has"),
]

@Suite("A program that watches itself") struct OwnProcessTests {
  @Test(arguments: scenes) func `hears of what is stuck`(_ scene: (name: String, line: String)) {
    let probe = WatchedProbe([scene.name, "handler"])
    probe.read(until: "stuck: \(scene.line)")
  }

  @Test(arguments: scenes + [("fork", "Queue 'stuck' is stuck behind one item: 1 thread waits")])
  func `prints its dump on request of the environment`(_ scene: (name: String, line: String)) {
    let probe = WatchedProbe([scene.name], environment: ["GRANDCENTRAL_DUMP_AFTER=0.2"])
    probe.read(until: " is stuck.\n\(scene.line)")
    probe.read(until: "\nThreads (")
    probe.read(until: "\nQueues (")
  }

  @Test(arguments: ["soon", "0", "-1", "nan", "1e300"])
  func `reports a time that is none`(_ time: String) {
    let probe = WatchedProbe(["idle"], environment: ["GRANDCENTRAL_DUMP_AFTER=\(time)"])
    probe.read(until: "GRANDCENTRAL_DUMP_AFTER='\(time)' is no positive number of seconds")
    probe.read(until: "ready\n")
    #expect(probe.end() == 0)
  }

  @Test(arguments: ["healthy", "idle", "nothing"])
  func `hears of nothing while it is healthy`(_ scene: String) {
    // A worker that was woken and gets no CPU for 0.2 s looks idle on the board, so the thread
    // that waits for its item looks stuck. A program that is wrongly called stuck is so each time.
    var texts: [String] = []
    let real = /ready\nstuck: Forgotten resume: queue 'asleep'[^|\n]*\n/
    for _ in 0..<10 where texts.last?.wholeMatch(of: real) == nil {
      let probe = WatchedProbe([scene, "handler"])
      probe.read(until: "ready\n")
      // What the program says of a hang that it begins now comes after, or beside, what it says of
      // one that it was in before.
      probe.getStuck()
      probe.read(until: "Forgotten resume")
      #expect(probe.end() == 0)
      texts.append(probe.text)
    }
    #expect(texts.last?.wholeMatch(of: real) != nil, "\(texts)")
  }

  @Test func `hears nothing after it has cancelled a handler`() {
    let probe = WatchedProbe(["blocked", "cancelled"])
    probe.read(until: "stuck\n")
    #expect(!probe.text.contains("cancelled"), "\(probe.text)")
  }

  @Test func `may cancel a handler, and add one, in the handler`() {
    let probe = WatchedProbe(["blocked", "in-handler"])
    probe.read(until: "then forgotten-resume stuck-queue\n")
    #expect(probe.text.ranges(of: "once").count == 1, "\(probe.text)")
  }

  @Test func `has no thread for it unless it asks`() {
    let probe = WatchedProbe(["idle"])
    probe.read(until: "ready\n")
    #expect(probe.sleeps(ofThread: "gc-watch") == nil)
  }

  @Test func `is not woken while it is idle`() throws {
    let probe = WatchedProbe(["idle", "handler"])
    probe.read(until: "ready\n")
    // The workers go to sleep soon after, which the watch looks at once more.
    var seen = -1
    var isQuiet = false
    for _ in 0..<deadlineSeconds where !isQuiet {
      let now = try #require(probe.sleeps(ofThread: "gc-watch"))
      isQuiet = now == seen
      seen = now
      // Five times the time after which a wait is stuck.
      if !isQuiet { usleep(1_000_000) }
    }
    #expect(isQuiet)
  }
}
