// grandcentral run: a program that hangs prints its dump; the command ends as the program ends.
import Glibc
import GrandCentralInside
import TestSupport
import Testing

private func run(
  _ options: [String], _ program: [String], environment: [String: String] = [:]
) -> ChildResult {
  runChild(
    ["\(buildFolder)/grandcentral", "run"] + options + ["--"] + program, environment: environment)
}

/// The command around a program that ends with its input, so with this object: mostly a probe that
/// hangs.
private final class Supervision {
  let command: pid_t
  /// `nil` once it is closed.
  private var input: Int32?
  private let output: Int32
  private(set) var text = ""
  private var isOver = false

  convenience init(_ scene: String, _ options: [String]) {
    self.init(program: ["\(buildFolder)/HangProbe", scene], options)
  }

  init(program: [String], _ options: [String]) {
    let (down, up) = (makePipe(), makePipe())
    // The shell joins the streams: what the probe prints precedes the dump. Other tests of this
    // process ignore signals meanwhile, which a child would inherit.
    command = startChild(
      [
        "env", "--default-signal", "sh", "-c", "exec \"$@\" 2>&1", "sh",
        "\(buildFolder)/grandcentral", "run",
      ] + options + ["--"] + program, input: down.read, output: up.write)
    close(down.read)
    close(up.write)
    input = down.write
    output = up.read
  }

  /// Reads the output until it contains `line`. Fails the test when it ends before.
  func read(until line: String) { read(untilOneOf: [line]) }

  /// Reads the output until it contains one of the lines. Fails the test when it ends before.
  func read(untilOneOf lines: [String]) {
    while !lines.contains(where: { text.contains($0) }) {
      guard let more = nextText(from: output) else {
        Issue.record("none of \(lines) in: \(text)")
        return
      }
      text += more
    }
  }

  /// Ends the program's input.
  func endInput() {
    if let input { close(input) }
    input = nil
  }

  /// Waits for the end of the command.
  func end() -> (status: Int32?, signal: Int32?) {
    isOver = true
    return waitFor(command)
  }

  deinit {
    endInput()
    if !isOver { _ = waitFor(command) }
    close(output)
  }
}

@Suite("grandcentral run") struct RunTests {
  @Test func `its version is the package's`() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    let version = runChild(["cat", "\(root)/VERSION"]).output
    let result = runChild(["\(buildFolder)/grandcentral", "--version"])
    #expect(result.status == 0 && result.output == "grandcentral \(version)", "\(result)")
  }

  @Test(arguments: [0, 1, 42, 255]) func `ends with the status of the program`(_ status: Int32) {
    let result = run([], ["sh", "-c", "echo out; echo err >&2; exit \(status)"])
    #expect(result.status == status && result.output == "out\n" && result.errors == "err\n")
  }

  @Test(arguments: [SIGKILL, SIGTERM, SIGABRT, SIGSEGV])
  func `ends by the signal that ended the program`(_ signal: Int32) {
    let result = run([], ["sh", "-c", "ulimit -c 0; kill -\(signal) $$"])
    #expect(result.signal == signal, "\(result)")
  }

  @Test func `says why a program cannot be started`() {
    let missing = run([], ["/nonexistent/program"])
    #expect(missing.status == 127 && missing.errors.contains("No such file"), "\(missing)")
    let folder = run([], ["/"])
    #expect(folder.status == 126 && folder.errors.contains("Permission denied"), "\(folder)")
    #expect(runChild(["\(buildFolder)/grandcentral", "run"]).status == 64)
    #expect(run(["--dump-after", "soon"], ["true"]).status == 64)
  }

  @Test(arguments: [
    ("deadlock", "Deadlock: 2 threads wait for each other."),
    ("forgotten-resume", "Forgotten resume: queue 'asleep' is suspended since"),
    ("closed-descriptors", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
    ("exec", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
    ("fork", "Queue 'stuck' is stuck behind one item: 1 thread waits for it."),
  ])
  func `prints the dump of a program that is stuck`(_ scene: String, _ line: String) {
    let supervision = Supervision(scene, ["--stuck-after", "0"])
    supervision.read(until: " is stuck.\n\(line)")
  }

  @Test(arguments: [([], "5.0 s"), (["--stuck-after", "7"], "7.0 s")])
  func `prints the dump of a program that takes longer`(_ options: [String], _ time: String) {
    let noBoard = "has no board"
    for limit in ["0.1", "1.0", "10.0", "60.0"] {
      let supervision = Supervision("healthy", ["--dump-after", limit] + options)
      let dump = " still runs after \(limit) s.\nNothing is stuck.\n"
      supervision.read(untilOneOf: [dump, noBoard])
      // On a busy machine, a program has none after a short time.
      guard supervision.text.contains(noBoard) else {
        return supervision.read(until: " waited for \(time) or longer")
      }
    }
    Issue.record("the program makes no board")
  }

  @Test func `says that a program has no board`() {
    let supervision = Supervision(program: ["cat"], ["--dump-after", "0"])
    supervision.read(until: "has no board")
    supervision.endInput()
    #expect(supervision.end().status == 0, "\(supervision.text)")
  }

  @Test(arguments: [SIGTERM, SIGUSR1, SIGHUP]) func `forwards signals`(_ signal: Int32) {
    let supervision = Supervision("healthy", [])
    supervision.read(until: "ready\n")
    kill(supervision.command, signal)
    #expect(supervision.end().signal == signal)
  }

  @Test func `names the hang of a program that was killed`() throws {
    let supervision = Supervision("deadlock", ["--stuck-after", "0"])
    supervision.read(until: " is stuck.\nDeadlock: 2 threads wait for each other.")
    let process = try #require(supervision.text.firstMatch(of: /process (\d+) is stuck/)?.1)
    kill(try #require(pid_t(process)), SIGKILL)
    supervision.read(until: "\(process) hung when it was killed.\nDeadlock: 2 threads wait for ")
    #expect(supervision.end().signal == SIGKILL)
  }

  @Test func `leaves the report of a deadlock to the engine, which uses the same words`() throws {
    let supervision = Supervision("deadlock-of-sync", [])
    supervision.read(until: "in the same order.")
    #expect(supervision.end().signal == SIGILL)
    let report = supervision.text.split(separator: "\n").filter { $0 != "ready" }
    #expect(report.first?.hasSuffix("Deadlock: 2 threads wait for each other.") == true)
    let wait = try Regex(
      #"^  thread \d+ '\w+' waits for queue '\w+' for (\d+ ms|\d+\.\d s), "#
        + #"held by thread \d+ '\w+'$"#)
    #expect(report.dropFirst().prefix(2).allSatisfy { $0.contains(wait) }, "\(report)")
  }

  @Test func `names the target that a thread of a deadlock holds`() throws {
    let supervision = Supervision("deadlock-behind-target", [])
    supervision.read(until: "in the same order.")
    #expect(supervision.end().signal == SIGILL)
    let wait = try Regex(
      #"thread \d+ '\w+' waits for queue 'upper' for \S+ m?s, whose target 'base' is held by "#
        + #"thread \d+ '\w+'\n"#)
    #expect(supervision.text.contains(wait), "\(supervision.text)")
  }

  @Test func `leaves nothing behind`() {
    let script = "echo $GRANDCENTRAL_BLACKBOX; touch $GRANDCENTRAL_BLACKBOX/x"
    let result = run([], ["sh", "-c", script])
    let folder = result.lines.first ?? ""
    #expect(folder.contains("/grandcentral-run-") && access(folder, F_OK) != 0, "\(result)")
  }

  @Test func `leaves nothing behind when the program cannot be started`() throws {
    let place = try Place()
    #expect(throws: StartedProgram.SpawnError.self) { try place.run("/nonexistent/program") }
    #expect(place.names.isEmpty, "\(place.names)")
  }

  @Test func `removes what killed commands have left behind, and nothing that is in use`() throws {
    let place = try Place()
    // No process has this number.
    let ended = pid_t.max - 1
    try place.makeFolder("grandcentral-run-empty", board: nil)
    try place.makeFolder("grandcentral-run-ended", board: ended)
    try place.makeFolder("grandcentral-run-alive", board: getpid())
    try place.makeFolder("other", board: ended)
    let locked = open(try place.makeFolder("grandcentral-run-locked", board: nil), O_RDONLY)
    defer { close(locked) }
    #expect(flock(locked, LOCK_EX | LOCK_NB) == 0)
    try place.run("true")
    #expect(place.names == ["grandcentral-run-alive", "grandcentral-run-locked", "other"])
  }
}

/// A folder of this test's own, in which `run` makes its folders.
private final class Place {
  private let path: String

  init() throws {
    var template = Array("/dev/shm/grandcentral-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = runChild(["rm", "-r", path]) }

  var names: [String] { runChild(["ls", path]).lines }

  func run(_ program: String) throws {
    let child = try Supervised([program], searchPath: nil, signalMask: sigset_t(), places: [path])
    var end = siginfo_t()
    var result: Int32
    repeat {
      result = waitid(P_PID, id_t(child.process), &end, WEXITED | WNOWAIT)
    } while result < 0 && errno == EINTR
    try #require(result == 0)
    try #require(child.end() != nil)
  }

  /// Makes a folder with the board of a process. Returns its path.
  @discardableResult
  func makeFolder(_ name: String, board process: pid_t?) throws -> String {
    let folder = "\(path)/\(name)"
    try #require(mkdir(folder, 0o700) == 0)
    if let process { close(creat("\(folder)/grandcentral-\(process)", 0o600)) }
    return folder
  }
}
