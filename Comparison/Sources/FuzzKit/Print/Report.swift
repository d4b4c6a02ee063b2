// Purpose: describes a violation for people: the broken promise, and the log of the steps involved.

public enum Report {
  /// Returns the events of the given steps, one a line, with their tickets.
  public static func log(_ events: [Event], about steps: [Int]) -> String {
    let wanted = Set(steps)
    let lines = events.enumerated().compactMap { index, event -> String? in
      guard wanted.contains(event.id) else { return nil }
      return "  \(pad(index + 1)) \(words(event))"
    }
    return lines.joined(separator: "\n")
  }

  public static func describe(_ violation: Violation, _ events: [Event]) -> String {
    """
    Broken: \(violation.invariant.rawValue).
    \(violation.sentence).
    \(log(events, about: violation.steps))
    """
  }

  /// Describes a run that does not end: the steps that began and did not finish.
  public static func unfinished(_ program: Program, _ events: [Event]) -> Violation {
    let history = History(Facts(program), events)
    var lines: [String] = []
    var steps: [Int] = []
    for (id, moments) in history.moments.enumerated() {
      let item = history.facts.item(id)
      var states: [String] = []
      if moments.called > 0 && moments.returned == 0 { states.append("was called, did not return") }
      if moments.starts > moments.ends { states.append("started, did not end") }
      let isWanted = item.map { moments.called > 0 && $0.way != nil } ?? false
      if isWanted && moments.starts == 0 { states.append("has not started") }
      if states.isEmpty { continue }
      steps.append(id)
      lines.append("  \(item == nil ? "step" : "item") \(id) \(states.joined(separator: " and "))")
    }
    let list = lines.isEmpty ? "  nothing that the log knows of" : lines.joined(separator: "\n")
    return Violation(.everythingEnds, "The run did not end. Unfinished:\n\(list)", steps: steps)
  }

  private static func words(_ event: Event) -> String {
    switch event.kind {
    case .called: "\(event.id) called"
    case .returned:
      "\(event.id) returned"
        + (event.value == 0 || event.value == event.id ? "" : " \(event.value)")
    case .started: "\(event.id) started"
    case .ended: "\(event.id) ended"
    case .released: "\(event.id) takes back"
    }
  }

  private static func pad(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, 5 - text.count)) + text
  }
}
