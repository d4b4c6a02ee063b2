// Room: BlackBox/FindingWords. The words for what hangs. The engine's own reports
// (Lanes/DeadlockReport, Pool/Pool+Holders) and the reader of boards (Sources/Board) use the same.
// A finding is a headline and indented lines: each wait, then what to do.

package enum FindingWords {
  package static func deadlock(threads: Int) -> String {
    "Deadlock: \(count(UInt64(threads), "thread", "wait")) for "
      + (threads == 1 ? "itself." : "each other.")
  }

  package static var deadlockAdvice: String {
    "Use async() for one of these, or let all of them enter the queues in the same order."
  }

  package static func explosion(threads: Int) -> String {
    "Thread explosion: \(threads) threads are held by items that wait."
  }

  package static var explosionAdvice: String {
    "Bound the number of items that wait at a time, or raise GRANDCENTRAL_THREADS."
  }

  /// Lines under a title: how many threads each queue holds, or how many wait for what.
  package static func counted(
    _ title: String, _ counts: [(name: String, count: Int)]
  ) -> [String] {
    counts.isEmpty ? [] : [title] + counts.prefix(16).map { "  \($0.count) × \($0.name)" }
  }

  package static var holders: String { "Queues that hold the threads:" }
  package static var waits: String { "They wait for:" }

  package static func thread(_ id: UInt32, _ name: String) -> String { "thread \(id) '\(name)'" }
  package static func queue(_ label: String) -> String { "queue '\(label)'" }

  /// The class of a band, as boards and recordings have it. Any number may stand there.
  package static func className(band: UInt8) -> String { (Band(rawValue: band) ?? .default).name }

  /// A global queue, which has no record.
  package static func globalQueue(band: UInt8) -> String { "(global, \(className(band: band)))" }

  /// What a thread waits for, where that is no queue; `nil`: nothing of the engine, or a queue.
  package static func awaited(_ kind: BoardWaitKind) -> String? {
    switch kind {
    case .none, .queue: nil
    case .workItem: "a work item"
    case .group: "a group"
    case .semaphore: "a semaphore"
    case .loop: "the end of concurrentPerform"
    case .once: "dispatch_once"
    case .file: "a file"
    }
  }

  package static func wait(for awaited: String, _ nanoseconds: UInt64) -> String {
    "waits for \(awaited) for \(duration(nanoseconds))"
  }

  /// `target`: the label of the queue that is held, if it is a target of the awaited one.
  package static func held(by thread: String, target: String? = nil) -> String {
    ", " + (target.map { "whose target '\($0)' is " } ?? "") + "held by \(thread)"
  }

  /// A number of things and what they do.
  package static func count(_ number: UInt64, _ noun: String, _ verb: String) -> String {
    number == 1 ? "1 \(noun) \(verb)s" : "\(number) \(noun)s \(verb)"
  }

  package static func duration(_ nanoseconds: UInt64) -> String {
    if nanoseconds < 1_000_000_000 { return "\(nanoseconds / 1_000_000) ms" }
    let tenths = nanoseconds / 100_000_000
    if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
    let seconds = tenths / 10
    return seconds < 3600
      ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3600) h \(seconds / 60 % 60) min"
  }

  /// The lines of a finding as one text.
  package static func text(_ headline: String, _ details: [String]) -> String {
    ([headline] + details.map { "  " + $0 }).joined(separator: "\n")
  }
}
