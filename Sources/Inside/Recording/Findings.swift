// What in a recording a person may want to act on: the most certain and the most harmful first.
// Each names the queue, the item's code if known, the thread, and since when in the recording.
// The limits are wide: a healthy program on a busy machine has items that wait for a processor for
// tens of milliseconds, and none of these findings.
import GrandCentralCore

struct RecordedAnalysis {
  let recording: Recording
  let queues: [QueueReport]
  /// The items of each queue, in the order of their starts.
  private let itemsOf: [[Int]]

  /// An item is long if it runs for this time while another one waits.
  static var longNanoseconds: UInt64 { 200_000_000 }
  static var inversionNanoseconds: UInt64 { 100_000_000 }
  static var lateNanoseconds: UInt64 { 200_000_000 }

  init(_ recording: Recording, _ queues: [QueueReport]) {
    self.recording = recording
    self.queues = queues
    var lists = [[Int]](repeating: [], count: recording.queues.count)
    for (index, item) in recording.items.enumerated() { lists[item.queue].append(index) }
    itemsOf = lists
  }

  func findings() -> [RecordedFinding] {
    let late = starvedSources() + lateTimers()
    let inversions = inversions(besideSourcesOf: Set(late.map(\.queueIndex)))
    // A long item is the reason for what waits behind it, and is reported as that.
    let named = Set((inversions + late).map(\.queueIndex))
    return lockOrders() + explosions() + hotQueues() + inversions + late
      + longItems().filter { !named.contains($0.queueIndex) }
  }

  private func isSerial(_ queue: Int) -> Bool {
    let kind = recording.queues[queue].kind
    return kind == .serial || kind == .main
  }

  // MARK: Hot queues

  /// Serial queues that run items nearly all the time while others wait: they limit the program.
  private func hotQueues() -> [RecordedFinding] {
    queues.filter(\.isHot).map { hot in
      let wait = Report.time(QueueReport.percentile(hot.waits, 50))
      let list = itemsOf[hot.index]
      let longest = list.max { (ran($0), $1) < (ran($1), $0) }
      return RecordedFinding(
        kind: .hotQueue, queueIndex: hot.index, queue: hot.queue.label,
        headline: "Hot queue: '\(hot.queue.label)' runs items \(Report.percent(hot.busyShare)) of "
          + "the time, and half of its items wait \(wait) or longer.",
        details: costly(list) + commonOrigins(list)
          + ["Split its work over several queues, or submit less to it."],
        item: longest)
    }
  }

  /// The functions that take most of the time of a list of items.
  private func costly(_ items: [Int]) -> [String] {
    var times: [Int: (time: UInt64, count: Int)] = [:]
    for index in items {
      guard let function = recording.items[index].function,
        !recording.functions[function].text.isEmpty
      else { continue }
      times[function, default: (0, 0)].time &+= ran(index)
      times[function]?.count += 1
    }
    return times.sorted { ($1.value.time, $0.key) < ($0.value.time, $1.key) }.prefix(3).map {
      "\(Report.time($1.time)) in \($1.count) × \(recording.functions[$0].text)"
    }
  }

  // MARK: Long items

  /// Items of a serial queue that run for long while others wait, the worst of each queue.
  private func longItems() -> [RecordedFinding] {
    recording.queues.indices.filter(isSerial).compactMap { queue in
      let list = itemsOf[queue]
      var worst: (item: Int, behind: Int)?
      for (position, index) in list.enumerated() where ran(index) >= Self.longNanoseconds {
        let behind = waitingBehind(position, in: list)
        if behind > 0, ran(index) > worst.map({ ran($0.item) }) ?? 0 { worst = (index, behind) }
      }
      guard let worst, !(queues.first { $0.index == queue }?.isHot ?? false) else { return nil }
      return RecordedFinding(
        kind: .longItem, queueIndex: queue, queue: label(queue),
        headline: "Long item: queue '\(label(queue))' runs one item for "
          + "\(Report.time(ran(worst.item))) while \(Report.count(worst.behind, "item", "wait")).",
        details: [describe(worst.item)] + origin(worst.item) + waits(in: worst.item)
          + ["Split the item, or run it on a queue of its own."],
        item: worst.item)
    }.sorted { ran($0.item ?? 0) > ran($1.item ?? 0) }
  }

  /// The items that were submitted before this one had ended and that started after it.
  private func waitingBehind(_ position: Int, in list: [Int]) -> Int {
    let end = end(list[position])
    return list[(position + 1)...].prefix(10_000).count {
      guard let submitted = recording.items[$0].submitted else { return false }
      // A moment before the end is no wait.
      return submitted.time &+ Self.longNanoseconds / 2 < end
    }
  }

  /// What the item waited for.
  private func waits(in item: Int) -> [String] {
    recording.waits.filter { $0.item == item }.prefix(3).map { wait in
      "It waited \(Report.time((wait.end ?? recording.end) &- wait.start)) for \(words(wait))."
    }
  }

  // MARK: Inversions

  /// Items, and threads in sync(), of a high class that wait behind an item of a lower one.
  /// `reported`: the queues whose events are reported as late.
  private func inversions(besideSourcesOf reported: Set<Int?>) -> [RecordedFinding] {
    var worst: [Int: (time: UInt64, waiter: String, holder: Int)] = [:]
    // The longest items of each queue: no others can hold one up for long.
    let holders = itemsOf.map { list in
      list.filter { ran($0) >= Self.inversionNanoseconds }.sorted { ran($0) > ran($1) }.prefix(100)
    }
    func note(_ queue: Int, from: UInt64, to: UInt64, band: UInt8, _ waiter: () -> String) {
      for holder in holders[queue] {
        let item = recording.items[holder]
        guard item.start < to, end(holder) > from else { continue }
        let time = min(to, end(holder)) - max(from, item.start)
        guard Self.rank(item.band) < Self.rank(band), time >= Self.inversionNanoseconds,
          time > worst[queue]?.time ?? 0
        else { continue }
        worst[queue] = (time, waiter(), holder)
      }
    }
    for (index, item) in recording.items.enumerated() where isSerial(item.queue) {
      guard let submitted = item.submitted, item.waited ?? 0 >= Self.inversionNanoseconds,
        !item.isSourceEvent || !reported.contains(item.queue)
      else { continue }
      // Its class on this queue, which may have one of its own.
      note(item.queue, from: submitted.time, to: item.start, band: item.band) {
        "an item of class \(FindingWords.className(band: item.band))\(code(index)), "
          + "submitted by \(thread(submitted.thread)),"
      }
    }
    for wait in recording.waits where wait.kind == .queue {
      guard let queue = wait.queue, isSerial(queue) else { continue }
      let waiter = wait.item.map { recording.items[$0].band } ?? 0
      note(queue, from: wait.start, to: wait.end ?? recording.end, band: waiter) {
        "\(thread(wait.thread)) of class \(FindingWords.className(band: waiter)) in sync()"
      }
    }
    return worst.sorted { ($1.value.time, $0.key) < ($0.value.time, $1.key) }.map { queue, found in
      let holder = recording.items[found.holder]
      return RecordedFinding(
        kind: .inversion, queueIndex: queue, queue: label(queue),
        headline: "Inversion: \(found.waiter) waits \(Report.time(found.time)) in queue "
          + "'\(label(queue))' behind an item of class \(FindingWords.className(band: holder.band)).",
        details: [describe(found.holder)] + origin(found.holder) + [
          "Submit the work that others wait for at their class, or give it a queue of its own."
        ],
        item: found.holder)
    }
  }

  /// Unspecified ranks as default.
  private static func rank(_ band: UInt8) -> UInt8 { band == 0 ? 3 : band }

  // MARK: Timers and sources

  private func lateTimers() -> [RecordedFinding] {
    lateHandlers(
      .lateTimer, of: "timer", late: { recording.items[$0].timerLate ?? 0 },
      headline: { "Late timer: a timer of queue '\($0)' runs its handler \($1) after its time." })
  }

  /// Sources, other than timers, whose handler starts long after the event.
  private func starvedSources() -> [RecordedFinding] {
    lateHandlers(
      .starvedSource, of: "source",
      late: { index in
        let item = recording.items[index]
        return item.isSourceEvent && item.timerLate == nil ? item.waited ?? 0 : 0
      },
      headline: {
        "Starved source: an event of a source of queue '\($0)' waits \($1) for its handler."
      })
  }

  /// The handler of each queue that starts latest, behind another item of the queue.
  private func lateHandlers(
    _ kind: RecordedFinding.Kind, of object: String, late: (Int) -> UInt64,
    headline: (_ queue: String, _ time: String) -> String
  ) -> [RecordedFinding] {
    worstOfQueues(late).compactMap { queue, index, time in
      guard let ahead = ahead(of: index, for: time) else { return nil }
      return RecordedFinding(
        kind: kind, queueIndex: queue, queue: label(queue),
        headline: headline(label(queue), Report.time(time)),
        details: [describe(index)] + ahead + [
          "Give the \(object) a queue of its own, or one on which short items run."
        ],
        item: index)
    }
  }

  /// The item of each queue with the greatest value, if that is late.
  private func worstOfQueues(_ value: (Int) -> UInt64) -> [(Int, Int, UInt64)] {
    recording.queues.indices.compactMap { queue in
      guard let worst = itemsOf[queue].max(by: { (value($0), $1) < (value($1), $0) }),
        value(worst) >= Self.lateNanoseconds
      else { return nil }
      return (queue, worst, value(worst))
    }.sorted { $0.2 > $1.2 }
  }

  /// The item of the same queue that ran longest before an item, within a time. `nil`: none did,
  /// and a second or less was lost to something else, such as other processes.
  private func ahead(of index: Int, for time: UInt64) -> [String]? {
    let start = recording.items[index].start
    let from = start > time ? start - time : 0
    let found = itemsOf[recording.items[index].queue]
      .filter { $0 != index && end($0) > from && recording.items[$0].start < start }
      .max { ran($0) < ran($1) }
    if let found, ran(found) >= time / 4 {
      return ["Before it ran: \(describe(found))"] + origin(found)
    }
    return time > 1_000_000_000
      ? ["No item of the queue ran before it for long: no thread was free."] : nil
  }

  // MARK: Threads

  /// The moment at which most threads were inside of items, if they were many more than the width.
  private func explosions() -> [RecordedFinding] {
    let width = max(1, recording.width)
    let ends = recording.items.indices.map(end).sorted()
    var (ended, most, moment) = (0, 0, UInt64(0))
    // The items are in the order of their starts.
    for (started, item) in recording.items.enumerated() {
      while ended < started, ends[ended] <= item.start { ended += 1 }
      if started + 1 - ended > most { (most, moment) = (started + 1 - ended, item.start) }
    }
    guard most >= max(24, 6 * width) else { return [] }
    let inside = recording.items.indices.filter {
      recording.items[$0].start <= moment && moment < end($0)
    }
    // Nested items share their thread.
    let threads = Set(inside.map { recording.items[$0].thread }).count
    guard threads >= max(24, 6 * width) else { return [] }
    var waitOf: [UInt32: RecordedWait] = [:]
    for wait in recording.waits
    where wait.start <= moment && moment <= wait.end ?? recording.end { waitOf[wait.thread] = wait }
    var groups: [String: (count: Int, first: Int)] = [:]
    for index in inside {
      let item = recording.items[index]
      let wait = waitOf[item.thread].map { "wait for \(words($0))" } ?? "run or sleep in the system"
      groups["'\(label(item.queue))'\(code(index)): \(wait)", default: (0, index)].count += 1
    }
    let sorted = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    let worst = sorted.first.map { recording.items[$0.value.first].queue }
    return [
      RecordedFinding(
        kind: .explosion, queueIndex: worst, queue: worst.map(label) ?? "",
        headline: "Thread explosion: \(threads) threads are inside of items at "
          + "\(at(moment)); the pool's width is \(width).",
        details: sorted.prefix(8).map { "\($0.value.count) × queue \($0.key)" }
          + commonOrigins(inside) + [
            "Bound the number of items that wait at a time, or let them not wait."
          ],
        item: sorted.first?.value.first)
    ]
  }

  // MARK: Lock orders

  /// Pairs of queues that threads entered one inside the other, in both orders.
  private func lockOrders() -> [RecordedFinding] {
    struct Edge: Hashable {
      let from: Int
      let to: Int
    }
    var seen: [Edge: RecordedWait] = [:]
    for wait in recording.waits where wait.kind == .queue {
      guard let to = wait.queue, isSerial(to) else { continue }
      for from in wait.held where from != to && isSerial(from) {
        if seen[Edge(from: from, to: to)] == nil { seen[Edge(from: from, to: to)] = wait }
      }
    }
    // The shortest way back from `to` to `from`.
    func wayBack(_ edge: Edge) -> [Edge]? {
      var paths: [[Edge]] = [[]]
      var visited: Set<Int> = [edge.to]
      while !paths.isEmpty {
        var next: [[Edge]] = []
        for path in paths {
          let at = path.last?.to ?? edge.to
          if at == edge.from { return path }
          for step in seen.keys.filter({ $0.from == at }).sorted(by: { $0.to < $1.to })
          where visited.insert(step.to).inserted || step.to == edge.from {
            next.append(path + [step])
          }
        }
        paths = next
      }
      return nil
    }
    var reported: Set<Set<Int>> = []
    return seen.keys.sorted { ($0.from, $0.to) < ($1.from, $1.to) }.compactMap { edge in
      guard let back = wayBack(edge) else { return nil }
      let cycle = [edge] + back
      guard reported.insert(Set(cycle.map(\.from))).inserted else { return nil }
      let names = cycle.map { "'\(label($0.from))'" }.joined(separator: ", ")
      return RecordedFinding(
        kind: .lockOrder, queueIndex: edge.from, queue: label(edge.from),
        headline: "Possible deadlock: threads enter the queues \(names) by sync() in different "
          + "orders.",
        details: cycle.flatMap { step in
          seen[step].map { lines($0, from: step.from, to: step.to) } ?? []
        } + ["Let all threads enter them in the same order, or use async() for one."],
        item: seen[edge]?.item)
    }
  }

  /// A wait inside of a queue, and from where the waiting item was submitted.
  private func lines(_ wait: RecordedWait, from: Int, to: Int) -> [String] {
    let place = "\(thread(wait.thread)) in '\(label(from))' waits for '\(label(to))'"
    guard let item = wait.item else { return ["\(place) at \(at(wait.start))"] }
    return ["\(place) at \(at(wait.start)), in \(describe(item))"] + origin(item)
  }

  // MARK: Words

  private func label(_ queue: Int) -> String { recording.queues[queue].label }

  private func end(_ index: Int) -> UInt64 { recording.items[index].end ?? recording.end }

  private func ran(_ index: Int) -> UInt64 {
    let item = recording.items[index]
    return end(index) > item.start ? end(index) - item.start : 0
  }

  private func at(_ time: UInt64) -> String {
    let passed = time > recording.start ? time - recording.start : 0
    return "\(Report.fixed(Double(passed) / 1e9, 3)) s"
  }

  private func thread(_ id: UInt32) -> String {
    recording.threads[id].map { "thread \(id) '\($0)'" } ?? "thread \(id)"
  }

  /// The code of an item, in front of which its queue stands.
  private func code(_ index: Int) -> String {
    guard let function = recording.items[index].function,
      !recording.functions[function].text.isEmpty
    else { return "" }
    return " (\(recording.functions[function].text))"
  }

  private func describe(_ index: Int) -> String {
    let item = recording.items[index]
    let what = item.isSourceEvent ? "a source's handler" : "an item"
    let still = item.end == nil ? "still runs after" : "ran for"
    return "\(what)\(code(index)) of queue '\(label(item.queue))' on \(thread(item.thread)), "
      + "since \(at(item.start)), \(still) \(Report.time(ran(index)))"
  }

  private func words(_ wait: RecordedWait) -> String {
    wait.kind == .queue
      ? FindingWords.queue(wait.queue.map(label) ?? "?")
      : FindingWords.awaited(wait.kind) ?? "something"
  }
}
