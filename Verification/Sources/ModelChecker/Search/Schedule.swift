// Room: ModelChecker/Schedule. A schedule as text, which replays a failure.
//   2x5.1.1:3   thread 2 five times, thread 1 once, thread 1 with its outcome number 3

/// The threads that moved, with their outcomes, in order.
public struct Schedule: Sendable, Equatable, CustomStringConvertible {
  struct Step: Sendable, Equatable {
    var thread: UInt8
    var choice: UInt16
  }
  var steps: [Step]

  init(steps: [Step]) { self.steps = steps }

  /// `nil` if `text` is not a schedule.
  public init?(_ text: String) {
    steps = []
    if text.isEmpty { return }
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      let repeated = part.split(separator: "x", omittingEmptySubsequences: false)
      let chosen = repeated[0].split(separator: ":", omittingEmptySubsequences: false)
      guard repeated.count <= 2, chosen.count <= 2, let thread = UInt8(chosen[0]),
        Int(thread) < Threads.maxCount, let times = repeated.count == 2 ? Int(repeated[1]) : 1,
        (1...Threads.maxSteps).contains(steps.count + times), times > 0,
        let choice = chosen.count == 2 ? UInt16(chosen[1]) : 0
      else { return nil }
      steps.append(contentsOf: Array(repeating: Step(thread: thread, choice: choice), count: times))
    }
  }

  public var description: String {
    var parts: [String] = []
    var index = 0
    while index < steps.count {
      let step = steps[index]
      var end = index + 1
      while end < steps.count && steps[end] == step { end += 1 }
      let outcome = step.choice == 0 ? "" : ":\(step.choice)"
      parts.append("\(step.thread)\(outcome)" + (end - index > 1 ? "x\(end - index)" : ""))
      index = end
    }
    return parts.joined(separator: ".")
  }
}
