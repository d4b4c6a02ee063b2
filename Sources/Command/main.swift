// The command `grandcentral`: shows the queues and threads of programs that run on this engine.
import Glibc
import GrandCentralCore
import GrandCentralInside

func printError(_ text: String) { _ = writeAll("grandcentral: \(text)\n", to: STDERR_FILENO) }

func failUsage(_ text: String) -> Never {
  printError("\(text) See 'grandcentral --help'.")
  exit(64)
}

/// Writes the text to standard output; ends the program if the reader of a pipe has gone.
func printAll(_ text: String) { if !writeAll(text, to: STDOUT_FILENO) { exit(2) } }

func writeAll(_ text: String, to descriptor: Int32) -> Bool {
  writeFully(Array(text.utf8), to: descriptor)
}

func isColoured(_ descriptor: Int32) -> Bool {
  isatty(descriptor) == 1 && getenv("NO_COLOR") == nil
}

func dump(_ arguments: [String]) -> Int32 {
  var target: String?
  var all = false
  var json = false
  var stuckAfter = 5.0
  var rest = arguments[...]
  while let argument = rest.popFirst() {
    switch argument {
    case "--help", "-h": showUsage(.dump)
    case "--all": all = true
    case "--json": json = true
    case "--stuck-after":
      stuckAfter = seconds(argument, rest.popFirst())
    case _ where argument.hasPrefix("-"): failUsage("There is no option \(argument).")
    case _ where target == nil: target = argument
    default: failUsage("dump takes one process or file.")
    }
  }
  guard let target else { failUsage("dump needs a process or a file.") }
  do {
    let dump =
      if let process = Int(target), process > 0, process < Int(Int32.max) {
        try Dump(process: process, stuckAfter: UInt64(stuckAfter * 1e9))
      } else {
        try Dump(path: target)
      }
    if json {
      printAll(dump.json())
    } else {
      let style = Style(isColoured: isColoured(STDOUT_FILENO))
      printAll(dump.summary(style))
      printAll(dump.details(all: all, style: style))
    }
    return dump.findings.isEmpty ? 0 : 1
  } catch {
    printError("\(error)")
    return 2
  }
}

/// Lists the processes that have a board.
func ps(_ arguments: [String]) -> Int32 {
  if arguments.contains("--help") || arguments.contains("-h") { showUsage(.ps) }
  if !arguments.isEmpty { failUsage("ps takes no arguments.") }
  printAll("    PID  NAME\n")
  for (process, name) in Processes.all() {
    let number = String(process)
    printAll(String(repeating: " ", count: max(0, 7 - number.count)) + number + "  \(name)\n")
  }
  return 0
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--help", "-h", "help":
  printAll(Verb.usageOfAll)
case "--version":
  printAll("grandcentral \(EngineVersion.text)\n")
case nil:
  failUsage("Name a verb: ps, dump, run, top, record, report or timeline.")
case .some(let name):
  let rest = Array(arguments.dropFirst())
  switch Verb(rawValue: name) {
  case .ps: exit(ps(rest))
  case .dump: exit(dump(rest))
  case .run: Run.perform(RunOptions(rest))
  case .top: exit(top(rest))
  case .record: exit(record(rest))
  case .report: exit(report(rest))
  case .timeline: exit(timeline(rest))
  case nil: failUsage("There is no verb '\(name)'.")
  }
}
