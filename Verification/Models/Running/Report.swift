// Room: Models/Report. Prints failures as an interleaving beside the source lines.

enum Report {
  static func print(_ failure: Failure, of model: EngineModel, _ run: Run) {
    Swift.print("\nFAILED: \(model.name) [\(run.name)], execution \(failure.execution)")
    Swift.print(failure.message)
    Swift.print("\nWhat the threads did:")
    var last = ""
    for step in failure.steps {
      let place = "\(EngineSources.baseName(step.site.file.description)):\(step.site.line)"
      let source = EngineSources.line(step.site.file.description, step.site.line) ?? ""
      let thread = step.thread == last ? "" : step.thread
      last = step.thread
      Swift.print(
        "  \(thread.padded(to: 12)) \(step.text.padded(to: 44)) \(place.padded(to: 30)) \(source)")
    }
    Swift.print(
      "\nTo run it again:\n  scripts/dev model replay \(quoted(command(failure, model, run)))\n")
  }

  private static func command(_ failure: Failure, _ model: EngineModel, _ run: Run) -> String {
    "\(model.name)|\(run.options.isWeak ? "weak" : "strong")|\(failure.schedule)"
  }

  private static func quoted(_ text: String) -> String { "'\(text)'" }

  static func print(_ outcome: Outcome, _ run: Run) {
    let perSecond = outcome.seconds > 0 ? Int(Double(outcome.executions) / outcome.seconds) : 0
    Swift.print(
      "  \(run.name.padded(to: 26)) \(grouped(outcome.executions)) executions, "
        + "\(grouped(outcome.steps)) steps, \(milliseconds(outcome.seconds)), "
        + "\(grouped(perSecond))/s\(outcome.isComplete ? "" : ", INCOMPLETE")")
  }

  static func milliseconds(_ seconds: Double) -> String {
    seconds < 10 ? "\(Int(seconds * 1000)) ms" : "\(Int(seconds)) s"
  }

  static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}
