// Chapter 7: queues and Swift Concurrency. An actor whose executor is a serial queue: tasks await
// its methods, items of the queue call them directly, and neither needs a lock.

import GrandCentral

/// Counts words, for tasks and for items.
actor WordCount {
  /// Items of this queue are on the actor.
  nonisolated let queue = DispatchSerialQueue(label: "actors.words")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  private(set) var counts: [String: Int] = [:]

  func add(_ text: String) {
    for word in text.split(separator: " ") { counts[String(word), default: 0] += 1 }
  }
}

extension Chapter {
  static let actors = Chapter(
    name: "actors", summary: "an actor on a queue, used by tasks and by items at the same time"
  ) { tour in
    let words = WordCount()
    let times = tour.isShort ? 100 : 10_000
    let underWay = DispatchGroup()

    // Code with queues submits an item.
    for _ in 0..<times {
      words.queue.async(group: underWay) {
        words.assumeIsolated { $0.add("a queue") }
      }
    }
    // Code with tasks awaits. The group connects both: it is left when the tasks are done.
    underWay.enter()
    Task {
      await withTaskGroup { tasks in
        for _ in 0..<times { tasks.addTask { await words.add("a task") } }
      }
      underWay.leave()
    }
    underWay.wait()

    let counts = words.queue.sync { words.assumeIsolated { $0.counts } }
    for (word, count) in counts.sorted(by: { $0.key < $1.key }) {
      tour.say("\(word.padded(to: 8))\(count)")
    }
    tour.check(
      counts == ["a": 2 * times, "queue": times, "task": times], "every word is counted once",
      "the counts should be \(2 * times), \(times) and \(times)")
  }
}
