// Purpose: prints busy waits and meetings as source: flags, and loops that poll them.

extension SwiftSource {
  mutating func writeFlagClass() {
    block("final class Flag: Sendable {") {
      $0.put("private let count = Atomic<Int>(0)")
      $0.put("func raise() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }")
      $0.block("func wait(for number: Int = 1, _ pause: () -> Void) {") {
        $0.put("while count.load(ordering: .acquiring) < number { pause() }")
      }
    }
    put("")
    block("func compute(_ rounds: Int) {") {
      $0.put("var value = UInt32(rounds)")
      $0.put("for _ in 0..<rounds { value = value &* 1_664_525 &+ UInt32(getpagesize()) }")
      $0.put("if value == 42 { print(value) }")
    }
    put("")
  }

  /// Declares a flag for each milestone with a waiting item, and one for each meeting.
  mutating func writeFlags() {
    for (item, milestone) in watchedMilestones { put("let \(flag(item, milestone)) = Flag()") }
    for op in program.allOps {
      if case .meeting(let id, _, _) = op { put("let meeting\(id) = Flag()") }
    }
  }

  private var watchedMilestones: [(Int, Milestone)] {
    var found: [(Int, Milestone)] = []
    for op in program.allOps {
      guard case .busyWait(_, let item, let milestone, _) = op else { continue }
      if !found.contains(where: { $0 == (item, milestone) }) { found.append((item, milestone)) }
    }
    return found
  }

  func flag(_ item: Int, _ milestone: Milestone) -> String { "\(milestone.rawValue)\(item)" }

  func pause(_ polling: Polling) -> String {
    switch polling.manner {
    case .nap: "{ usleep(\(polling.amount)) }"
    case .yield: "{ sched_yield() }"
    case .spin: "{}"
    case .compute: "{ compute(\(polling.amount)) }"
    }
  }

  /// Whether the item sets or polls a flag beside its steps.
  func isWatched(_ item: Int) -> Bool {
    watchedMilestones.contains { $0.0 == item } || meeting(of: item) != nil
  }

  mutating func writeBeginning(of item: Int) {
    if watchedMilestones.contains(where: { $0 == (item, .begun) }) {
      put("\(flag(item, .begun)).raise()")
    }
    guard let (id, polling, count) = meeting(of: item) else { return }
    put("meeting\(id).raise()")
    put("meeting\(id).wait(for: \(count)) \(pause(polling))")
  }

  mutating func writeEnd(of item: Int) {
    if watchedMilestones.contains(where: { $0 == (item, .ended) }) {
      put("\(flag(item, .ended)).raise()")
    }
  }

  private func meeting(of item: Int) -> (id: Int, polling: Polling, count: Int)? {
    for op in program.allOps {
      guard case .meeting(let id, let polling, let members) = op else { continue }
      if members.contains(where: { $0.item.id == item }) { return (id, polling, members.count) }
    }
    return nil
  }
}
