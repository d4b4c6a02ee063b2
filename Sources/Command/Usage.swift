// What the command says of itself. The text of `grandcentral --help` is that of all verbs.
import Glibc

/// A verb of the command.
enum Verb: String, CaseIterable {
  case ps, dump, run, top, record, report, timeline

  /// The arguments behind the name of the command. A line below the first continues it.
  private var synopsis: String {
    switch self {
    case .ps: "ps"
    case .dump: "dump PID|FILE [--all] [--json] [--stuck-after SECONDS]"
    case .run:
      """
      run [--dump-after SECONDS] [--stuck-after SECONDS]
          [--dropin FOLDER|--no-dropin] [--] PROGRAM [ARGUMENT…]
      """
    case .top: "top PID [--interval SECONDS] [--once] [--json] [--sampled]"
    case .record:
      """
      record PID|-- PROGRAM… [-o FILE] [--seconds SECONDS]
          [--sampled|--origins] [--dropin FOLDER|--no-dropin]
      """
    case .report: "report FILE [--json]"
    case .timeline: "timeline FILE [-o PAGE] [--perfetto OUTPUT]"
    }
  }

  /// What the verb does, and its options.
  private var description: String {
    switch self {
    case .ps:
      """
      ps                       lists the processes that have a board
      """
    case .dump:
      """
      dump PID                 shows what hangs in a process, its threads and its queues
      dump FILE                the same for a file that GRANDCENTRAL_BLACKBOX=DIR left behind
        --all                  shows idle threads and all queues
        --json                 prints one JSON object
        --stuck-after SECONDS  reports waits that last longer than this (default: 5)
      """
    case .run:
      """
      run PROGRAM              runs a program, and prints its dump to standard error when it is
                               stuck
        --dump-after SECONDS   prints the dump of a program that still runs after this time
        --stuck-after SECONDS  reports waits that last longer than this (default: 30; in the dump of
                               --dump-after 5, as dump has it)

      """ + Self.dropInOptions
    case .top:
      """
      top PID                  shows a table of queues each second, until q or ^C: items a second,
                               how long they wait and run (median, 99th percentile), what runs.
                               QUEUED: the items that wait; 7+: these, and perhaps some that were
                               submitted before top began; -: not known
        --interval SECONDS     the time between two tables
        --once                 prints one table and ends
        --json                 prints a JSON object for each table
        --sampled              looks at one item in 64
      """
    case .record:
      """
      record PID               records each item, until ^C or for --seconds, in FILE
      record [OPTION…] -- PROGRAM…
                               starts a program on Grand Central and records it from its beginning
        -o FILE                by default grandcentral.gcrecord
        --seconds SECONDS      ends the recording after this time
        --sampled              records one item in 64
        --origins              records also from where each item is submitted: the functions

      """ + Self.dropInOptions
    case .report:
      """
      report FILE              shows waits and run times for each queue, and which queue limits the
                               program. Closures of sync() run on the calling thread and are not
                               counted; sync() is seen where it waits
        --json                 prints one JSON object
      """
    case .timeline:
      """
      timeline FILE -o PAGE    writes the recording as one page of HTML, for any browser
      timeline FILE --perfetto OUTPUT
                               writes the recording for ui.perfetto.dev
      """
    }
  }

  private static let dropInOptions = """
      --dropin FOLDER        the program uses the libdispatch.so in this folder; by default the one
                             that is installed with this command, if there is one and the program
                             does not contain the engine
      --no-dropin            the program uses the library that it finds by itself
    """

  private var exitStatus: String {
    switch self {
    case .ps: "0"
    case .dump: "0: nothing is stuck. 1: something is. 2: the board cannot be read."
    case .run:
      """
      that of the program, or its signal.
      126: the program cannot be started. 127: it is not found.
      """
    case .top: "0. 2: the board cannot be read."
    case .record:
      """
      0. 2: the board cannot be read, or the file cannot be written.
      With a program, its status or signal. 126: it cannot be started. 127: it is not found.
      """
    case .report: "0: no findings. 1: there are some. 2: the file cannot be read."
    case .timeline: "0. 2: a file cannot be read or written."
    }
  }

  /// The text of the verb's own --help.
  var usage: String {
    """
    Usage: grandcentral \(Self.indented(synopsis, by: 7, first: 0))

    \(Self.indented(description))

    Exit status:
    \(Self.indented(exitStatus))
      64: wrong usage.

    """
  }

  /// The text of the command's --help.
  static let usageOfAll = """
    Usage: \(allCases.map { "grandcentral " + indented($0.synopsis, by: 7, first: 0) }
      .joined(separator: "\n       "))
           grandcentral VERB --help
           grandcentral --version

    Shows what programs on Grand Central do. The program itself does nothing for it, so it may hang
    or be stopped.

    \(allCases.map { indented($0.description) }.joined(separator: "\n"))
      --version                prints the version
      --help                   prints this text, or that of a verb

    Exit status:
    \(allCases.map { "  \($0.rawValue): \(indented($0.exitStatus, by: 4, first: 0))" }
      .joined(separator: "\n"))
      64: wrong usage.

    """

  private static func indented(_ text: String, by columns: Int = 2, first: Int = 2) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
      String(repeating: " ", count: $0.offset == 0 ? first : columns) + $0.element
    }.joined(separator: "\n")
  }
}

/// Prints the verb's usage, and ends the command.
func showUsage(_ verb: Verb) -> Never {
  printAll(verb.usage)
  exit(0)
}
