// grandcentral top: a live table of a program's queues.
import Glibc
import GrandCentralCore
import GrandCentralInside
import GrandCentralPrimitives

private struct TopOptions {
  var process = 0
  var interval = 1.0
  var once = false
  var json = false
  var level = EventLevel.items

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": showUsage(.top)
      case "--once": once = true
      case "--json": json = true
      case "--sampled": level = .sampled
      case "--interval":
        interval = seconds(argument, rest.popFirst())
        if interval < 0.1 { failUsage("--interval needs 0.1 seconds or more.") }
      case _ where argument.hasPrefix("-"): failUsage("There is no option \(argument).")
      case _ where process == 0:
        guard let given = Int(argument), given > 0, given < Int(Int32.max) else {
          failUsage("'\(argument)' is no process id.")
        }
        process = given
      default: failUsage("top takes one process.")
      }
    }
    if process == 0 { failUsage("top needs a process.") }
  }
}

func top(_ arguments: [String]) -> Int32 {
  let options = TopOptions(arguments)
  do {
    let top = try Top(process: options.process, level: options.level)
    defer { top.end() }
    let isScreen = !options.once && !options.json && isatty(STDOUT_FILENO) == 1
    return try TopView(options: options, top: top, isScreen: isScreen).run()
  } catch {
    printError("\(error)")
    return 2
  }
}

private struct TopView {
  let options: TopOptions
  let top: Top
  let isScreen: Bool
  let terminal: Terminal

  init(options: TopOptions, top: Top, isScreen: Bool) {
    self.options = options
    self.top = top
    self.isScreen = isScreen
    terminal = Terminal(isShown: isScreen)
  }

  /// Events are read ten times a second.
  private static var readMilliseconds: UInt64 { 100 }

  func run() throws -> Int32 {
    let interval = UInt64(options.interval * 1e9)
    var lines = ["process \(options.process): the first figures come in \(options.interval) s."]
    if isScreen, !terminal.show(lines) { return 0 }
    var next = Clock.monotonicNanoseconds() + interval
    while true {
      let now = Clock.monotonicNanoseconds()
      let left = next > now ? (next - now) / 1_000_000 : 0
      switch terminal.wait(milliseconds: Int32(min(left, Self.readMilliseconds))) {
      case .key(let key) where key == UInt8(ascii: "q") || key == UInt8(ascii: "Q"): return 0
      case .signal(SIGTSTP): terminal.stop()
      case .signal(SIGWINCH), .signal(SIGCONT): if !terminal.show(lines) { return 0 }
      // As asked for: ^C and q end the command alike.
      case .signal: return 0
      case .key, .time: break
      }
      if !Processes.isAlive(options.process) { return endOfProcess() }
      if Clock.monotonicNanoseconds() < next {
        try top.collect()
        continue
      }
      guard let activity = try? top.activity(stuckAfter: 5_000_000_000) else {
        return endOfProcess()
      }
      next = max(next + interval, Clock.monotonicNanoseconds())
      lines = activity.lines(Style(isColoured: isScreen && isColoured(STDOUT_FILENO)))
      if !show(activity, lines) || options.once { return 0 }
    }
  }

  /// Returns false if the reader of the output has gone.
  private func show(_ activity: Activity, _ lines: [String]) -> Bool {
    if isScreen { return terminal.show(lines) }
    let text = options.json ? activity.json() : lines.joined(separator: "\n")
    return writeAll(text + (options.json || options.once ? "\n" : "\n\n"), to: STDOUT_FILENO)
  }

  private func endOfProcess() -> Int32 {
    // On the usual screen, where it stays.
    terminal.leave()
    printError("Process \(options.process) has ended.")
    return 0
  }
}
