// The words for a snapshot: what a thread is called, waits for and does.

extension Analysis {
  /// A number of threads and what they do.
  package static func threads(_ number: Int, _ verb: String) -> String {
    count(UInt64(number), "thread", verb)
  }

  static func count(_ number: UInt64, _ noun: String, _ verb: String) -> String {
    FindingWords.count(number, noun, verb)
  }

  package func label(_ place: UInt32) -> String {
    if place == 0 { return "?" }
    guard let queue = snapshot.queues[place] else { return "queue \(place)" }
    if queue.label.isEmpty, queue.target != 0, queue.target != place,
      let target = snapshot.queues[queue.target], target.kind != .global
    {
      return "a source of \(target.label)"
    }
    return queue.label.isEmpty ? "queue \(place)" : queue.label
  }

  package func describe(_ thread: ThreadRecord) -> String {
    FindingWords.thread(thread.id, thread.name)
  }

  package func waitWords(_ thread: ThreadRecord) -> String {
    switch thread.activity == .waiting ? thread.wait : .none {
    case .queue: FindingWords.queue(label(thread.awaitedQueue))
    case .workItem where thread.awaitedQueue != 0:
      "a work item of queue '\(label(thread.awaitedQueue))'"
    case let kind: FindingWords.awaited(kind) ?? "a system call"
    }
  }

  package func doing(_ thread: ThreadRecord) -> String {
    let since = duration(age(thread.since))
    switch thread.activity {
    case .none, .idle: return "has no work for \(since)"
    case .waiting: return FindingWords.wait(for: waitWords(thread), age(thread.since))
    case .running:
      let verb = isAsleep(thread.id) == true ? "sleeps in a system call" : "runs"
      guard thread.queue != 0 else { return "\(verb); it last woke \(since) ago" }
      return "\(verb) on queue '\(label(thread.queue))'\(timeOnQueue(thread))"
    }
  }

  /// How long a running thread has had its queue, and how many items it has begun meanwhile. If
  /// that is one, it is the item's own time.
  package func timeOnQueue(_ thread: ThreadRecord) -> String {
    guard thread.queueSince != 0 else { return "" }
    let time = duration(age(thread.queueSince))
    return switch thread.itemsOnQueue {
    case 0: ", one or more items in \(time)"
    case 1: " for \(time)"
    default: ", \(thread.itemsOnQueue) items in \(time)"
    }
  }

  package func duration(_ nanoseconds: UInt64) -> String { FindingWords.duration(nanoseconds) }
}
