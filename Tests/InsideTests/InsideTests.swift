// The command on programs that hang, in child processes.
// Shows contract row X2.
import Glibc
import GrandCentralCore
import TestSupport
import Testing

/// A probe that has reached its hang: it has printed "ready".
final class HangingProbe {
  let process: pid_t
  private let input: Int32
  private let output: Int32

  init(_ scenario: String, environment: [String] = []) {
    let (down, up) = (makePipe(), makePipe())
    process = startChild(
      ["env"] + environment + ["\(buildFolder)/HangProbe", scenario], input: down.read,
      output: up.write)
    close(down.read)
    close(up.write)
    input = down.write
    output = up.read
    var bytes: [UInt8] = [0, 0, 0, 0, 0, 0]
    let count = read(output, &bytes, 6)
    #expect(count == 6)
  }

  deinit {
    kill(process, SIGKILL)
    _ = waitFor(process)
    close(input)
    close(output)
  }
}

func dump(_ target: String, _ arguments: [String] = ["--stuck-after", "0"]) -> ChildResult {
  runChild(["\(buildFolder)/grandcentral", "dump", target] + arguments)
}

/// Dumps until the first line begins with `prefix`: the probe's threads get to their waits soon
/// after it is ready. A hang that is never found fails the test.
func dump(_ probe: HangingProbe, until prefix: String) -> ChildResult {
  polled(until: { $0.output.hasPrefix(prefix) }, { dump("\(probe.process)") })
}

/// The same, until the dump contains `words`.
func dump(_ probe: HangingProbe, untilItSays words: String) -> ChildResult {
  polled(until: { $0.output.contains(words) }, { dump("\(probe.process)") })
}

private let scenes = [
  ("deadlock", "Deadlock: 2 threads wait for each other."),
  ("deadlock-of-barrier", "Deadlock: 2 threads wait for each other."),
  ("deadlock-below-target", "Deadlock: 3 threads wait for each other."),
  (
    "blocked-by-group",
    "Suspected deadlock: 1 thread waits for queue 'stuck', whose item waits for a group"
  ),
  (
    "blocked-by-semaphore",
    "Suspected deadlock: 1 thread waits for queue 'stuck', whose item waits for a semaphore"
  ),
  (
    "blocked-by-item",
    "Suspected deadlock: 1 thread waits for queue 'stuck', whose item waits for a work item"
  ),
  ("blocked", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
  ("explosion", "Thread explosion: 80 threads are held by items that wait."),
  ("forgotten-resume", "Forgotten resume: queue 'asleep' is suspended since"),
  ("forgotten-leave", "Suspected forgotten leave: 1 thread waits for a group, and no thread has"),
  ("thousand-threads", "Queue 'stuck' is stuck behind one item: 1000 threads wait for it."),
  ("exec", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
]

@Suite("grandcentral dump") struct DumpTests {
  @Test(arguments: scenes) func `names the hang first`(_ scene: (name: String, line: String)) {
    let probe = HangingProbe(scene.name)
    let result = dump(probe, until: scene.line)
    #expect(result.output.hasPrefix(scene.line), "\(result.output)\(result.errors)")
    #expect(result.status == 1)
  }

  @Test(arguments: scenes) func `names the hang of a stopped process`(
    _ scene: (name: String, line: String)
  ) {
    let probe = HangingProbe(scene.name)
    _ = dump(probe, until: scene.line)
    kill(probe.process, SIGSTOP)
    let result = dump(probe, until: scene.line)
    #expect(result.output.hasPrefix(scene.line), "\(result.output)\(result.errors)")
    #expect(result.status == 1)
  }

  @Test(arguments: [
    (
      "exhausted-pool",
      "Possibly stuck: 10 threads wait for one semaphore in queue 'requests', and no thread has "
    ),
    ("kept-alive", "Possibly stuck: the main thread waits for a group, and no thread has work "),
    (
      "kept-alive-by-thread",
      "Possibly stuck: the main thread waits for a group, and no thread has work "
    ),
    ("locked-item", "Possibly stuck: an item of queue 'imports' sleeps on a lock or a condition, "),
  ])
  func `names what may be a wait for events, and reports no hang`(_ scene: String, _ line: String) {
    let probe = HangingProbe(scene)
    // Some systems do not say in which call a thread sleeps.
    let places = runChild(["sh", "-c", "cat /proc/\(probe.process)/task/*/wchan"]).output
    if scene == "locked-item" && !places.contains("futex") { return }
    let result = dump(probe, until: line)
    #expect(result.output.hasPrefix(line), "\(result.output)\(result.errors)")
    #expect(result.status == 0)
    // Not if a thread has had work during the last hour.
    let recent = dump(String(probe.process), ["--stuck-after", "3600"])
    #expect(recent.output.hasPrefix("Nothing is stuck."), "\(recent.output)")
  }

  /// The board's version is patched: a command and a program of two releases.
  @Test(arguments: [
    (BoardLayout.version + 1, "newer engine"), (BoardLayout.version - 1, "older engine"),
  ])
  func `says which command reads a board of another release`(_ version: UInt64, _ word: String) {
    let probe = HangingProbe("blocked")
    _ = dump(probe, until: "Queue 'stuck'")
    let board = runChild([
      "sh", "-c",
      """
      for file in /proc/\(probe.process)/fd/*; do
        case $(readlink $file) in /memfd:grandcentral*) echo $file ;; esac
      done
      """,
    ]).lines[0]
    let octal = String(version, radix: 8)
    let patched = runChild([
      "sh", "-c", "printf '\\\(octal)' | dd of=\(board) bs=1 seek=8 conv=notrunc",
    ])
    #expect(patched.status == 0, "\(patched)")
    let command = "\(buildFolder)/grandcentral"
    for arguments in [
      ["dump", "\(probe.process)"], ["top", "\(probe.process)", "--once"],
      ["record", "\(probe.process)", "--seconds", "1", "-o", "/dev/null"],
    ] {
      let result = runChild([command] + arguments)
      #expect(result.status == 2 && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains(word), "\(result)")
      #expect(result.errors.contains(/Grand Central \d+\.\d+\.\d+: its board has layout/))
      #expect(result.errors.contains("release"))
    }
    // None of them has written to a board that it does not know.
    let control = runChild(["od", "-An", "-tu8", "-j512", "-N8", board])
    #expect(control.output.filter { !$0.isWhitespace } == "0", "\(control)")
    #expect(runChild([command, "ps"]).output.contains("\(probe.process)"))
  }

  @Test func `names a main queue that nothing drains, and what would drain it`() {
    let probe = HangingProbe("undrained-main-queue")
    let line = "Possibly stuck: the main queue has had work for "
    let result = dump(probe, until: line)
    #expect(result.output.hasPrefix(line), "\(result.output)\(result.errors)")
    #expect(result.output.contains("Call dispatchMain() at the end"), "\(result.output)")
    #expect(result.output.contains("depend on GrandCentralDropIn"), "\(result.output)")
    #expect(result.status == 0)
    let drained = HangingProbe("drained-main-queue")
    // Nor does an item of that queue seem to sleep when the main thread does.
    let healthy = dump(drained, until: "Nothing is stuck.")
    #expect(healthy.output.hasPrefix("Nothing is stuck."), "\(healthy.output)")
  }

  @Test func `names the wait of the main thread before which its queue has work`() {
    let probe = HangingProbe("main-queue-behind-wait")
    let line = "Possibly stuck: the main queue has had work for "
    let result = dump(probe, until: line)
    let first = result.lines.first ?? ""
    #expect(first.hasPrefix(line), "\(result)")
    #expect(first.hasSuffix(", and the main thread waits for a semaphore."), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `names the queue whose work cannot end a wait in that queue`() {
    let probe = HangingProbe("work-behind-wait")
    let line = "Suspected forgotten leave: 1 thread waits for a group, and no thread has"
    let result = dump(probe, until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.output.contains("\n  Work on queue 'uploads' does not run before that ends"))
    #expect(result.status == 1)
  }

  @Test func `says where to look in a program whose queues have no work`() {
    let probe = HangingProbe("idle")
    let result = dump(probe, until: "Nothing is stuck.\n  The board has shown no work for ")
    #expect(result.output.contains("look for what would submit it"), "\(result)")
    #expect(result.status == 0)
    #expect(result.output.contains("A task that is suspended is in no queue"), "\(result)")
    // Not of one that had work a moment ago.
    let recent = dump(String(probe.process), ["--stuck-after", "3600"])
    let judgement = "Nothing is stuck.\n  No thread has waited for 1 h 0 min or longer.\n\n"
    #expect(recent.output.hasPrefix(judgement), "\(recent)")
  }

  @Test func `does not deny work while an item of a global queue sleeps`() {
    let probe = HangingProbe("blocked-on-global-queue")
    let result = dump(probe, untilItSays: "sleeps in a system call")
    #expect(result.output.contains("sleeps in a system call"), "\(result)")
    #expect(result.output.hasPrefix("Nothing is stuck.\n  No thread waits.\n"), "\(result)")
    // The probe is linked with the Concurrency runtime.
    #expect(result.output.contains("the actor's other jobs do not run before"), "\(result)")
    #expect(result.status == 0)
    let recent = dump(String(probe.process), ["--stuck-after", "3600"])
    #expect(!recent.output.contains("the actor's other jobs"), "\(recent)")
  }

  @Test func `says that work is behind an item that sleeps`() {
    let probe = HangingProbe("work-behind-sleeper")
    let line = "Work on queue 'imports' does not run before that ends"
    let result = dump(probe, untilItSays: line)
    #expect(result.output.contains(line), "\(result)")
    #expect(result.output.contains(/sleeps in a system call on queue 'imports' for \S+ m?s\. Work/))
    #expect(result.output.hasPrefix("Nothing is stuck.\n  No thread waits.\n"), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `says how many items a thread has begun on its queue`() {
    let probe = HangingProbe("third-item")
    let line = "sleeps in a system call on queue 'third', 3 items in "
    let result = dump(probe, untilItSays: line)
    #expect(result.output.contains(line), "\(result)")
    let json = dump(String(probe.process), ["--json"])
    #expect(json.output.contains(/"queueSinceNanoseconds":[1-9]\d*,"itemsOnQueue":3,/), "\(json)")
  }

  @Test func `says by which time waits are judged`() {
    let probe = HangingProbe("blocked-by-semaphore")
    _ = dump(probe, until: "Suspected deadlock")
    let short = dump(String(probe.process), ["--stuck-after", "3600"])
    let judgement = "Nothing is stuck.\n  No thread has waited for 1 h 0 min or longer.\n"
    #expect(short.output.hasPrefix(judgement), "\(short)")
    #expect(short.status == 0)
    // A wait that other threads may end.
    let busy = HangingProbe("wait-beside-work")
    let line = "Nothing is stuck.\n  1 thread has waited, for what other threads or events may "
    let result = dump(busy, until: line)
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `finds the forgotten leave of a main thread that no event can wake`() {
    let probe = HangingProbe("wait-on-main-thread")
    let line = "Suspected forgotten leave: 1 thread waits for a group, and no thread has"
    let result = dump(probe, until: line)
    #expect(result.output.hasPrefix(line), "\(result.output)\(result.errors)")
    #expect(result.status == 1)
  }

  @Test func `lets no thread of the program run`() throws {
    let probe = HangingProbe("blocked-by-semaphore")
    _ = dump(probe, until: "Suspected deadlock")
    // A thread that makes a system call has run: the kernel counts each time that it sleeps again.
    func switches() -> [String] {
      let tasks = runChild(["sh", "-c", "cat /proc/\(probe.process)/task/*/status"]).lines
      return tasks.filter { $0.contains("ctxt_switches") }
    }
    // The waiting thread looks for deadlocks by itself, in pauses that double.
    var wasQuiet = false
    for _ in 0..<50 where !wasQuiet {
      let before = switches()
      let result = dump(String(probe.process), ["--all", "--stuck-after", "0"])
      #expect(result.status == 1)
      wasQuiet = !before.isEmpty && switches() == before
    }
    #expect(wasQuiet)
  }

  @Test func `shows 10,000 queues and 1,000 threads`() {
    let probe = HangingProbe("crowd")
    let line = "Queue 'stuck' is stuck behind one item: 1000 threads wait for it."
    #expect(dump(probe, until: line).output.hasPrefix(line))
    let all = dump(String(probe.process), ["--all"])
    #expect(all.output.contains("\nQueues (1000"), "\(all.output.suffix(200))")
    #expect(all.output.contains("\n  'crowd.9999' serial"))
  }

  @Test func `finds nothing in a healthy process`() {
    let probe = HangingProbe("healthy")
    for _ in 0..<10 {
      let result = dump(String(probe.process), [])
      #expect(result.output.hasPrefix("Nothing is stuck."), "\(result.output)\(result.errors)")
      #expect(result.status == 0)
    }
  }

  @Test func `reads the file of a killed process`() throws {
    let folder = "/dev/shm/grandcentral-test-\(getpid())"
    defer { rmdir(folder) }
    let path: String
    do {
      let probe = HangingProbe("deadlock", environment: ["GRANDCENTRAL_BLACKBOX=\(folder)"])
      _ = dump(probe, until: "Deadlock")
      path = "\(folder)/grandcentral-\(probe.process)"
    }
    defer { unlink(path) }
    let result = dump(path, [])
    #expect(result.output.hasPrefix("Deadlock: 2 threads"), "\(result.output)\(result.errors)")
    #expect(result.status == 1)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func `survives damaged files`() throws {
    let folder = "/dev/shm/grandcentral-test-damage-\(getpid())"
    defer { rmdir(folder) }
    let probe = HangingProbe("deadlock", environment: ["GRANDCENTRAL_BLACKBOX=\(folder)"])
    _ = dump(probe, until: "Deadlock")
    let path = "\(folder)/grandcentral-\(probe.process)"
    defer { unlink(path) }
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    var random = SeededGenerator(for: "damaged boards")
    for _ in 0..<50 {
      // The header, the first threads, or the first queues.
      let area = [0, 4096, 4096 + 2048 * 128].randomElement(using: &random) ?? 0
      var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      let offset = area + Int.random(in: 0..<8192, using: &random)
      pwrite(descriptor, &bytes, bytes.count, off_t(offset))
      let result = dump(path, ["--all"])
      #expect([0, 1, 2].contains(result.status ?? -1), "\(result)")
      if result.status == 2 {
        #expect(result.errors.hasPrefix("grandcentral: "), "\(result.errors)")
        // Repair what the next rounds need.
        var magic = Array("GCBOARD1".utf8)
        pwrite(descriptor, &magic, 8, 0)
      }
    }
  }

  @Test func `says what to do about a process without a board`() {
    let result = dump(String(getppid()))
    #expect(result.status == 2)
    #expect(result.errors.hasPrefix("grandcentral: Process"))
    // Root may read the processes of all users; what it lacks is another reason.
    if geteuid() == 0 { #expect(!dump("1").errors.contains("another user")) }
    // A process of this user: the reason is that it has none.
    var ends: [Int32] = [0, 0]
    _ = pipe(&ends)
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    let process = startChild(["cat"], input: ends[0], output: STDERR_FILENO)
    let other = dump(String(process))
    #expect(other.status == 2)
    #expect(other.errors.contains("\(process) has no board."), "\(other)")
    kill(process, SIGKILL)
    _ = waitFor(process)
    close(ends[0])
    close(ends[1])
  }
}
