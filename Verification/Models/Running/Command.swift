// Room: Models/Command. The commands of the program.
//   model [FILTER] [--share F] [--seed N] [--seconds S]
//                               checks the models whose names contain FILTER; with --seconds, a
//                               search that S cuts off is reported as incomplete, and no failure
//   model list                  prints the names of the models
//   model mutants [FILTER]      applies each mutant and requires that its model finds it
//   model orderings [FILTER]    weakens each ordering in turn, in files whose names contain FILTER,
//                               and reports each weakening that no model finds
//   model replay 'NAME|MEMORY|SCHEDULE'
//                               runs one execution again; a failure's report prints the argument
//   model self-test [COUNT] [SEED]
//                               compares the checker's searches on COUNT random programs
// `--part I/N` runs only part I of N, counted from 1.
import ModelSelfTest

struct Command {
  private var words: [String] = []
  private var share = 0.01
  private var seed: UInt64 = 1
  /// The limit of one search in seconds; `nil` for each model's own limit.
  private var seconds: Double?
  private var part = (number: 0, of: 1)

  init(_ arguments: some Sequence<String>) {
    var arguments = Array(arguments)[...]
    while let argument = arguments.popFirst() {
      switch argument {
      case "--share": share = Self.number(Double.init, argument, arguments.popFirst())
      case "--seed": seed = Self.number({ UInt64($0) }, argument, arguments.popFirst())
      case "--seconds": seconds = Self.number(Double.init, argument, arguments.popFirst())
      case "--part":
        let numbers = (arguments.popFirst() ?? "").split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 2, numbers[1] > 0 else { Self.misused(argument) }
        part = (numbers[0] - 1, numbers[1])
      default: words.append(argument)
      }
    }
  }

  private static func number<Number>(
    _ read: (String) -> Number?, _ option: String, _ text: String?
  ) -> Number {
    guard let number = text.flatMap(read) else { misused(option) }
    return number
  }

  private static func misused(_ option: String) -> Never {
    print("model: \(option) needs a number")
    exit(2)
  }

  /// Runs the command. Returns whether everything passed.
  func run() -> Bool {
    switch words.first {
    case "list":
      for model in Catalogue.models { print(model.name) }
      return true
    case "mutants": return Mutants.run(filter: words.dropFirst().first ?? "", part)
    case "orderings": return Orderings.run(filter: words.dropFirst().first ?? "", part)
    case "self-test": return selfTest()
    case "replay": return replay(words.dropFirst().first ?? "")
    default: return check(filter: words.first ?? "")
    }
  }

  private func check(filter: String) -> Bool {
    var executions = 0
    var failures = 0
    let start = ContinuousClock.now
    let chosen = Catalogue.models.filter { $0.name.contains(filter) }
    for (index, model) in chosen.enumerated() where index % part.of == part.number {
      print(model.name)
      for run in model.runs(share: share, seed: seed) {
        var options = run.options
        options.maxSeconds = seconds ?? options.maxSeconds
        let outcome = model.model.check(options)
        executions += outcome.executions
        Report.print(outcome, run)
        fflush(nil)
        if let failure = outcome.failure {
          failures += 1
          Report.print(failure, of: model, run)
        } else if !outcome.isComplete, seconds == nil {
          failures += 1
          print("  FAILED: the search was cut off before its end.")
        }
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print(
      "\(Report.grouped(executions)) executions in \(Report.milliseconds(seconds)), "
        + "\(Report.grouped(Int(Double(executions) / max(seconds, 0.001))))/s, \(failures) failures"
    )
    if chosen.isEmpty { print("model: no model has '\(filter)' in its name") }
    return failures == 0 && !chosen.isEmpty
  }

  private func selfTest() -> Bool {
    let count = words.count > 1 ? UInt64(words[1]) : 5_000
    let first = words.count > 2 ? UInt64(words[2]) : 1
    guard let count, let first else { Self.misused("self-test") }
    let start = ContinuousClock.now
    var comparison = Comparison()
    for seed in first..<first + count where seed % UInt64(part.of) == UInt64(part.number) {
      comparison.compare(seed: seed)
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    for fault in comparison.faults { print("FAILED: \(fault)") }
    print(
      "\(Report.grouped(comparison.compared)) random programs, \(comparison.skipped) too long; "
        + "executions: \(Report.grouped(comparison.naiveExecutions)) unreduced, "
        + "\(Report.grouped(comparison.reducedExecutions)) reduced; "
        + "\(Report.milliseconds(seconds)), \(comparison.faults.count) faults")
    return comparison.faults.isEmpty
  }

  private func replay(_ text: String) -> Bool {
    let parts = text.split(separator: "|").map(String.init)
    guard parts.count == 3, let model = Catalogue.models.first(where: { $0.name == parts[0] }),
      let schedule = Schedule(parts[2])
    else {
      print("model: '\(text)' is not NAME|MEMORY|SCHEDULE of a model that there is")
      return false
    }
    var options = model.options
    options.isWeak = parts[1] == "weak"
    let run = Run(name: "replay, \(parts[1])", options: options)
    guard let failure = model.model.replay(schedule, options) else {
      print("The execution ends well.")
      return true
    }
    Report.print(failure, of: model, run)
    return false
  }
}
