// The command line.

import Glibc
import Metrics

struct Options {
  var filter = ""
  var rounds = 11
  var quick = false
  var list = false
  /// Exit with status 1 if a row is over its limit.
  var strict = false
  var json: String?
  var engines = Engine.allCases
  /// The workload to run once, the engine and the count; set only in a child process.
  var child: (workload: String, engine: Engine, count: Int)?

  static let usage = """
    usage: bench [--filter SUBSTRING] [--rounds N] [--quick] [--only ours|peer|libuv]
                 [--json FILE] [--strict] [--list]

      --filter SUBSTRING  only workloads whose name, or one of whose rows, contains it
      --rounds N          samples of each engine (11; at most 5 where each takes a process);
                          up to three times as many where the rounds disagree
      --quick             3 rounds of samples a quarter as long: a look, not a measurement
      --only ENGINE       one engine, so no ratios
      --json FILE         also write the figures to FILE
      --strict            leave with status 1 when a row is over its limit
      --list              print the rows and their limits, run nothing

    """

  init(_ arguments: [String]) {
    var rest = arguments[...]
    var roundsAreGiven = false
    while let option = rest.popFirst() {
      switch option {
      case "--filter": filter = Self.value(of: option, &rest)
      case "--rounds":
        rounds = Self.number(of: option, &rest)
        roundsAreGiven = true
      case "--quick": quick = true
      case "--list": list = true
      case "--strict": strict = true
      case "--json": json = Self.value(of: option, &rest)
      case "--only": engines = [Self.engine(of: option, &rest)]
      case "--child":
        let workload = Self.value(of: option, &rest)
        let engine = Self.engine(of: option, &rest)
        child = (workload, engine, Self.number(of: option, &rest))
      case "--help", "-h":
        emit(Self.usage)
        exit(0)
      default: Self.reject("unknown option '\(option)'")
      }
    }
    if quick && !roundsAreGiven { rounds = 3 }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) -> String {
    guard let value = rest.popFirst() else { reject("\(option) needs a value") }
    return value
  }

  private static func number(of option: String, _ rest: inout ArraySlice<String>) -> Int {
    let text = value(of: option, &rest)
    guard let number = Int(text), number > 0 else { reject("\(option) needs a number above 0") }
    return number
  }

  private static func engine(of option: String, _ rest: inout ArraySlice<String>) -> Engine {
    let text = value(of: option, &rest)
    guard let engine = Engine(rawValue: text) else {
      reject("\(option) needs 'ours', 'peer' or 'libuv'")
    }
    return engine
  }

  private static func reject(_ message: String) -> Never {
    emit("bench: \(message)\n\(usage)", to: 2)
    exit(64)
  }
}
