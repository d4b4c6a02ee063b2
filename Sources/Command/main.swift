// The command `grandcentral`: shows the queues and threads of programs that run on this engine.
import Glibc
import GrandCentralCore
import GrandCentralInside

let usage = """
  Usage: grandcentral ps
         grandcentral dump PID|FILE [--all] [--json] [--stuck-after SECONDS]
         grandcentral run [OPTION…] [--] PROGRAM [ARGUMENT…]
         grandcentral top PID [--interval SECONDS] [--once] [--json] [--sampled]
         grandcentral record PID|-- PROGRAM… [-o FILE] [--seconds SECONDS]
                                   [--sampled|--origins]
         grandcentral report FILE [--json]
         grandcentral timeline FILE [-o PAGE] [--perfetto OUTPUT]
         grandcentral --version

  Shows what programs on Grand Central do. The program itself does nothing for it, so it may hang
  or be stopped.

    ps                       lists the processes that have a board
    dump PID                 shows what hangs in a process, its threads and its queues
    dump FILE                the same for a file that GRANDCENTRAL_BLACKBOX=DIR left behind
    run PROGRAM              runs a program, and prints its dump to standard error when it is stuck
    --dropin FOLDER          run, record: the program uses the libdispatch.so in this folder; by
                             default the one that is installed with this command, if there is one
                             and the program does not contain the engine
    --no-dropin              run, record: the program uses the library that it finds by itself
    --dump-after SECONDS     prints the dump of a program that still runs after this time
    --all                    shows idle threads and all queues
    --json                   prints one JSON object
    top PID                  shows a table of queues each second, until q or ^C: items a second, how
                             long they wait and run (median, 99th percentile), what runs
    --interval SECONDS       the time between two tables
    --once                   prints one table and ends
    record PID               records each item, until ^C or for --seconds, in FILE (by default
                             grandcentral.gcrecord)
    record [OPTIONS] -- PROGRAM…
                             starts a program on Grand Central and records it from its beginning
    --sampled                records one item in 64
    --origins                records also from where each item is submitted: the functions
    report FILE              shows waits and run times for each queue, and which queue limits the
                             program
    timeline FILE -o PAGE    writes the recording as one page of HTML, for any browser
    timeline FILE --perfetto OUTPUT
                             writes the recording for ui.perfetto.dev
    --stuck-after SECONDS    reports waits that last longer than this (default: dump 5, run 30)
    --version                prints the version
    --help                   prints this text

  Exit status: 0: nothing is stuck, no queue is hot. 1: something is. 2: the board cannot be read.
  64: wrong usage. run and record -- PROGRAM end as the program does, by the same status or signal;
  126: it cannot be started, 127: it is not found.

  """

func printError(_ text: String) { _ = writeAll("grandcentral: \(text)\n", to: STDERR_FILENO) }

func failUsage(_ text: String) -> Never {
  printError("\(text) See 'grandcentral --help'.")
  exit(64)
}

/// Writes the text to standard output; ends the program if the reader of a pipe has gone.
func printAll(_ text: String) { if !writeAll(text, to: STDOUT_FILENO) { exit(2) } }

func writeAll(_ text: String, to descriptor: Int32) -> Bool {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if written < 0 && errno == EINTR { continue }
    if written < 0 { return false }
    rest = rest.dropFirst(written)
  }
  return true
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
    case "--all": all = true
    case "--json": json = true
    case "--stuck-after":
      stuckAfter = seconds(argument, rest.popFirst())
    case _ where argument.hasPrefix("--"): failUsage("There is no option \(argument).")
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

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--help", "-h", "help":
  printAll(usage)
case "--version":
  printAll("grandcentral \(EngineVersion.text)\n")
case "ps":
  if arguments.count > 1 { failUsage("ps takes no arguments.") }
  let processes = Processes.all()
  printAll("    PID  NAME\n")
  for (process, name) in processes {
    let number = String(process)
    printAll(String(repeating: " ", count: max(0, 7 - number.count)) + number + "  \(name)\n")
  }
case "dump":
  exit(dump(Array(arguments.dropFirst())))
case "run":
  Run.perform(RunOptions(Array(arguments.dropFirst())))
case "top":
  exit(top(Array(arguments.dropFirst())))
case "record":
  exit(record(Array(arguments.dropFirst())))
case "report":
  exit(report(Array(arguments.dropFirst())))
case "timeline":
  exit(timeline(Array(arguments.dropFirst())))
case nil:
  failUsage("Name a verb: ps, dump, run, top, record, report or timeline.")
case .some(let verb):
  failUsage("There is no verb '\(verb)'.")
}
