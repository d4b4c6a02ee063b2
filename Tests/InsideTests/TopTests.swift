// grandcentral top: in a pseudo-terminal, and with its output in a pipe.
import Glibc
import TestSupport
import Testing

/// A program that floods a queue, until this object ends.
private final class FloodedProbe {
  private let probe = PipedChild(["\(buildFolder)/RecordProbe", "hot"])
  var process: pid_t { probe.process }

  /// Returns when the program has used its queue, and so has a board.
  init() { probe.waitForLine() }

  deinit {
    kill(process, SIGKILL)
    _ = waitFor(process)
    probe.endInput()
  }
}

/// `grandcentral top` in a terminal of its own.
private final class TerminalTop {
  let command: pid_t
  private let main: Int32
  /// Kept open, so that its settings can be read when the command has ended.
  private let terminal: Int32
  private(set) var text = ""
  private var isOver = false

  /// `shell`: runs the command, which it gets as arguments.
  init(
    _ process: pid_t, columns: UInt16 = 100, environment: [String] = [], shell: [String] = []
  ) throws {
    // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, which Swift does not import.
    main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    try #require(
      main >= 0 && ioctl(main, 0x4004_5431, &isLocked) == 0
        && ioctl(main, 0x8004_5430, &number) == 0)
    terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(terminal >= 0)
    var size = winsize(ws_row: 20, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    command = startChild(
      ["env", "-u", "NO_COLOR", "--default-signal"] + environment
        + ["setsid", "-c"] + shell
        + ["\(buildFolder)/grandcentral", "top", "\(process)", "--interval", "0.2"],
      input: terminal, output: terminal)
  }

  deinit {
    if !isOver {
      kill(command, SIGKILL)
      _ = waitFor(command)
    }
    close(main)
    close(terminal)
  }

  func read(until part: String, from start: String.Index? = nil) {
    let start = start ?? text.startIndex
    while !text[start...].contains(part) {
      guard readMore(milliseconds: deadlineSeconds * 1000) else {
        Issue.record("no '\(part)' in: \(text.suffix(2000).debugDescription)")
        return
      }
    }
  }

  private func readMore(milliseconds: Int) -> Bool {
    guard let more = nextText(from: main, milliseconds: milliseconds) else { return false }
    text += more
    return true
  }

  func press(_ key: UInt8) {
    var key = key
    _ = write(main, &key, 1)
  }

  func resize(columns: UInt16, lines: UInt16) {
    var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
  }

  func end() -> (status: Int32?, signal: Int32?) {
    isOver = true
    let end = waitFor(command)
    while readMore(milliseconds: 0) {}
    return end
  }

  /// Whether the terminal reads lines and echoes keys.
  var isUsual: Bool {
    var settings = termios()
    tcgetattr(terminal, &settings)
    let usual = tcflag_t(ICANON | ECHO)
    return settings.c_lflag & usual == usual
  }
}

private let leaving = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

@Suite("grandcentral top in a terminal") struct TerminalTopTests {
  enum End: Sendable {
    case key(UInt8)
    case signal(Int32)
  }

  @Test(arguments: [
    End.key(UInt8(ascii: "q")), .key(3), .signal(SIGTERM), .signal(SIGHUP), .signal(SIGQUIT),
  ])
  func `gives the terminal back`(_ end: End) throws {
    let probe = FloodedProbe()
    let top = try TerminalTop(probe.process)
    top.read(until: "hot")
    #expect(top.text.contains("\u{1b}[?1049h"))
    #expect(!top.isUsual)
    switch end {
    case .key(let key): top.press(key)
    case .signal(let signal): kill(top.command, signal)
    }
    #expect(top.end().status == 0)
    #expect(top.text.hasSuffix(leaving), "\(top.text.suffix(100).debugDescription)")
    #expect(top.isUsual)
    // The program does not record any more: another recorder is not refused.
    let recorded = runChild([
      "\(buildFolder)/grandcentral", "record", "\(probe.process)", "--seconds", "0.1", "-o",
      "/dev/null",
    ])
    #expect(recorded.status == 0, "\(recorded)")
  }

  @Test(arguments: [SIGSEGV, SIGABRT, SIGUSR1, SIGALRM, SIGXCPU, SIGSYS, 40])
  func `gives the terminal back after any other signal`(_ signal: Int32) throws {
    let probe = FloodedProbe()
    let top = try TerminalTop(probe.process, environment: ["SWIFT_BACKTRACE=enable=no"])
    top.read(until: "hot")
    kill(top.command, signal)
    #expect(top.end().signal == signal)
    #expect(top.text.hasSuffix(leaving))
    #expect(top.isUsual)
  }

  /// The command is alone in its session, where the kernel ignores the stop: setpgid(2), orphaned
  /// process groups. So it continues at once.
  @Test func `gives the terminal back for a stop, and takes it again`() throws {
    let probe = FloodedProbe()
    let top = try TerminalTop(probe.process)
    top.read(until: "hot")
    kill(top.command, SIGTSTP)
    top.read(until: leaving)
    let seen = try #require(top.text.ranges(of: leaving).first).upperBound
    top.read(until: "\u{1b}[?1049h", from: seen)
    top.read(until: "hot", from: seen)
    #expect(!top.isUsual)
    top.press(UInt8(ascii: "q"))
    #expect(top.end().status == 0)
    #expect(top.isUsual)
  }

  /// A shell with job control stops the command with ^Z, and ends it then.
  @Test func `ends by a signal while it is stopped, or in the background`() throws {
    let probe = FloodedProbe()
    // wait(1) may say once more that the job is stopped, by a status above that of SIGTERM, or that
    // there is no such job any more.
    let end = "kill %%; while wait -f %%; [ $? -gt 143 ]; do :; done; echo"
    // Job control asks the terminal of the shell's standard error.
    let script = """
      exec 2>&0; set -m; "$@"; stty -a | grep -ow -e -icanon -e icanon; \(end) ended once.
      "$@" & wait %%; \(end) ended twice.
      """
    let top = try TerminalTop(probe.process, shell: ["bash", "-c", script, "bash"])
    top.read(until: "hot")
    top.press(26)
    top.read(until: "ended once.")
    #expect(top.text.contains("\r\nicanon\r\n"), "\(top.text.debugDescription)")
    top.read(until: "ended twice.")
    #expect(top.isUsual)
    _ = top.end()
  }

  @Test func `follows the size of the terminal`() throws {
    let probe = FloodedProbe()
    let top = try TerminalTop(probe.process, columns: 120)
    top.read(until: "QUEUE, AND WHAT RUNS")
    top.resize(columns: 30, lines: 3)
    // A frame of three lines, cut at 30 columns.
    let seen = top.text.endIndex
    top.read(until: "  ITEMS/S     WAIT p50  p99   \u{1b}[0m\u{1b}[K\u{1b}[J", from: seen)
    top.press(UInt8(ascii: "q"))
    #expect(top.end().status == 0)
  }

  @Test func `uses colours, and none with NO_COLOR`() throws {
    let probe = FloodedProbe()
    let top = try TerminalTop(probe.process)
    top.read(until: "\u{1b}[32mNothing is stuck.\u{1b}[0m")
    let plain = try TerminalTop(probe.process, environment: ["NO_COLOR=1"])
    plain.read(until: "\u{1b}[HNothing is stuck.\u{1b}[K")
    for end in [top, plain] {
      end.press(UInt8(ascii: "q"))
      #expect(end.end().status == 0)
    }
  }

  @Test func `ends with the process`() throws {
    var probe: FloodedProbe? = FloodedProbe()
    let top = try TerminalTop(try #require(probe).process)
    top.read(until: "hot")
    probe = nil
    #expect(top.end().status == 0)
    #expect(top.isUsual)
  }
}

@Suite("grandcentral top in a pipe") struct PipedTopTests {
  private func top(_ process: pid_t, _ arguments: [String]) -> ChildResult {
    runChild(["\(buildFolder)/grandcentral", "top", "\(process)"] + arguments)
  }

  /// Shows one interval, until what the command prints is expected: on a busy machine the probe
  /// may get no CPU in an interval.
  private func top(
    _ process: pid_t, _ arguments: [String], until isExpected: (ChildResult) -> Bool
  ) -> ChildResult {
    polled(until: isExpected) { top(process, ["--once", "--interval", "1"] + arguments) }
  }

  @Test func `prints one plain table`() {
    let probe = FloodedProbe()
    func showsFlood(_ result: ChildResult) -> Bool {
      let row = result.lines.last { $0.contains(" hot") } ?? ""
      let items = row.split(separator: " ").first.flatMap { Int($0) } ?? 0
      // Items ran, and 199 or so wait: the probe keeps 200 in its queue. No item runs for long,
      // however long the thread has had the queue.
      return result.lines.first == "Nothing is stuck." && items > 0
        && row.contains(/\ (1\d\d|200)  hot(  \(gc-worker-\d+\))?$/)
    }
    let result = top(probe.process, [], until: showsFlood)
    #expect(result.status == 0 && !result.output.contains("\u{1b}"), "\(result)")
    #expect(showsFlood(result), "\(result)")
  }

  @Test func `says that items may wait that it has not seen, and how many one thread began`() {
    let probe = HangingProbe("third-item")
    let row = /[1-9]\d*\+  third  \(gc-worker-\d+, 3 items in \d/
    let result = top(probe.process, []) { $0.output.contains(row) }
    #expect(result.output.contains(row), "\(result)")
    let field = /"queued":[1-9]\d*,"queuedIsAtLeast":true/
    let json = top(probe.process, ["--json"]) { $0.output.contains(field) }
    #expect(json.output.contains(field), "\(json)")
  }

  @Test func `prints one object for each interval`() throws {
    let probe = FloodedProbe()
    func showsFlood(_ result: ChildResult) -> Bool {
      let row = /"queue":"hot","kind":"serial","itemsPerSecond":[1-9]\d*,"waitP50Nanose/
      return (result.lines.first ?? "").contains(row)
    }
    let result = top(probe.process, ["--json"], until: showsFlood)
    #expect(result.lines.count == 1 && result.status == 0, "\(result)")
    #expect(showsFlood(result), "\(result)")
    let line = try #require(result.lines.first)
    #expect(line.hasPrefix("{\"process\":\(probe.process),"))
  }

  @Test func `shows rates of all items where it samples`() throws {
    let probe = FloodedProbe()
    let line = try #require(
      top(probe.process, ["--once", "--json", "--sampled", "--interval", "1"]).lines.first)
    #expect(line.contains("\"interval\":64,"))
    #expect(line.contains("\"queued\":null"))
  }

  @Test func `prints tables until its reader goes`() {
    let probe = FloodedProbe()
    let result = runChild([
      "sh", "-c",
      "\"$0\" top \(probe.process) --interval 0.2 2>&1 | grep -m 2 --line-buffered hot",
      "\(buildFolder)/grandcentral",
    ])
    #expect(result.lines.count == 2, "\(result)")
  }

  @Test func `shares the recording of another recorder`() throws {
    let probe = FloodedProbe()
    let recorder = startChild([
      "\(buildFolder)/grandcentral", "record", "\(probe.process)", "-o", "/dev/null",
    ])
    defer {
      kill(recorder, SIGINT)
      _ = waitFor(recorder)
    }
    let row = /"queue":"hot","kind":"serial","itemsPerSecond":[1-9]/
    let arguments = ["--once", "--json", "--interval", "0.3"]
    let result = polled(
      until: { $0.output.contains(row) }, { top(probe.process, arguments) })
    #expect(result.output.contains(row), "\(result)")
  }

  @Test func `says what is wrong with its arguments`() {
    for arguments in [[], ["1", "2"], ["x"], ["1", "--interval", "0"], ["1", "--fast"]] {
      let result = runChild(["\(buildFolder)/grandcentral", "top"] + arguments)
      #expect(result.status == 64 && result.errors.contains("--help"), "\(result)")
    }
    #expect(top(getppid(), ["--once"]).status == 2)
  }
}
