// A recording as values: items with their queue, times and threads, and waits.
import GrandCentralCore

/// An item that was submitted, started, or both, while the recording ran.
package struct RecordedItem: Sendable {
  /// An index into `Recording.queues`.
  package var queue: Int
  package var submitted: (time: UInt64, thread: UInt32)?
  package var start: UInt64
  package var end: UInt64?
  package var thread: UInt32
  /// An index into `Recording.functions`: the code that the item runs, if it is known.
  package var function: Int?

  // A damaged file may have any times.
  package var waited: UInt64? { submitted.map { start > $0.time ? start - $0.time : 0 } }
  package var ran: UInt64? { end.map { $0 > start ? $0 - start : 0 } }

  package init(
    queue: Int, submitted: (time: UInt64, thread: UInt32)?, start: UInt64, end: UInt64? = nil,
    thread: UInt32, function: Int? = nil
  ) {
    self.queue = queue
    self.submitted = submitted
    self.start = start
    self.end = end
    self.thread = thread
    self.function = function
  }
}

package struct RecordedQueue: Sendable {
  package var label: String
  package var kind: QueueRecord.Kind

  package init(label: String, kind: QueueRecord.Kind) {
    self.label = label
    self.kind = kind
  }
}

package struct RecordedWait: Sendable {
  package var kind: BoardWaitKind
  package var thread: UInt32
  /// The queue that the thread waits for, or that runs the awaited work item.
  package var queue: Int?
  package var start: UInt64
  package var end: UInt64?

  package init(
    kind: BoardWaitKind, thread: UInt32, queue: Int?, start: UInt64, end: UInt64? = nil
  ) {
    self.kind = kind
    self.thread = thread
    self.queue = queue
    self.start = start
    self.end = end
  }
}

/// The code of items, by its address in the process.
package struct RecordedFunction: Sendable {
  package var address: UInt64
  /// Its name, and its place in the source where that is known.
  package var text: String

  package init(address: UInt64, text: String) {
    self.address = address
    self.text = text
  }
}

/// A recording that was read from a file. Times are nanoseconds of CLOCK_MONOTONIC.
package struct Recording: Sendable {
  package var process = 0
  package var name = "?"
  /// One item in this number is recorded.
  package var interval = 1
  package var threads: [UInt32: String] = [:]
  package var queues: [RecordedQueue] = []
  package var functions: [RecordedFunction] = []
  package var items: [RecordedItem] = []
  package var waits: [RecordedWait] = []
  /// Items that were submitted and did not start.
  package var unstarted = 0
  package var lostWords: UInt64 = 0
  package var start: UInt64 = 0
  package var end: UInt64 = 0

  struct Event {
    var ticks: UInt64
    var thread: UInt32
    var kind: EventKind
    var detail: UInt8
    var place: UInt32
    var address: UInt64
    /// Of a queue: an index into `queues`.
    var queue: Int
  }

  /// Reads a file.
  package init(path: String) throws {
    guard let bytes = readBytes(path) else {
      throw InsideError("\(path): \(systemMessage())")
    }
    try self.init(bytes, path: path)
  }

  package init(_ bytes: [UInt8], path: String) throws {
    guard bytes.starts(with: RecordingFile.mark) else {
      throw InsideError(
        "\(path) is no recording: its first bytes are wrong. 'grandcentral record' makes one.")
    }
    var blocks = RecordingBlocks()
    blocks.read(bytes.dropFirst(RecordingFile.mark.count))
    process = blocks.process
    name = blocks.name
    interval = blocks.interval
    threads = blocks.threads
    queues = blocks.queues
    lostWords = blocks.lostWords
    join(&blocks)
  }

  /// Joins submissions and starts, starts and ends.
  private mutating func join(_ blocks: inout RecordingBlocks) {
    // By time; a thread's own events keep their order. A start that shows the same tick as its
    // submission comes after it.
    let order = blocks.events.indices.sorted { left, right in
      let (one, other) = (blocks.events[left], blocks.events[right])
      if one.ticks != other.ticks { return one.ticks < other.ticks }
      return one.thread == other.thread ? left < right : one.kind.rawValue < other.kind.rawValue
    }
    var submitted: [UInt64: Event] = [:]
    var running: [UInt32: [Int]] = [:]
    var waiting: [UInt32: Int] = [:]
    var names = PlaceNames(blocks.places)
    for index in order {
      let event = blocks.events[index]
      let time = blocks.time(event.ticks)
      switch event.kind {
      case .submit:
        if submitted.updateValue(event, forKey: event.address) != nil { unstarted += 1 }
      case .start:
        let origin = submitted.removeValue(forKey: event.address)
        let place = event.place != 0 ? event.place : origin?.place ?? 0
        items.append(
          RecordedItem(
            queue: names.queue(at: place, band: event.detail, in: &queues),
            submitted: origin.map { (blocks.time($0.ticks), $0.thread) }, start: time,
            thread: event.thread))
        running[event.thread, default: []].append(items.count - 1)
      case .end:
        if let item = running[event.thread]?.popLast() { items[item].end = time }
      case .wait:
        let kind = BoardWaitKind(rawValue: event.detail) ?? .none
        waiting[event.thread] = waits.count
        let queue =
          event.place == 0 ? nil : names.queue(at: event.place, band: 0, in: &queues)
        waits.append(
          RecordedWait(kind: kind, thread: event.thread, queue: queue, start: time))
      case .waitEnd:
        if let wait = waiting.removeValue(forKey: event.thread) { waits[wait].end = time }
      case .queue: names.name(event.place, event.queue)
      case .thread: break
      }
    }
    unstarted += submitted.count
    start = order.first.map { blocks.time(blocks.events[$0].ticks) } ?? 0
    end = order.last.map { blocks.time(blocks.events[$0].ticks) } ?? 0
    for wait in waiting.values { waits[wait].end = end }
  }
}

/// Which queue has a place, as time goes by.
private struct PlaceNames {
  private var now: [UInt32: Int]
  private var bands: [UInt8: Int] = [:]

  init(_ places: [UInt32: Int]) { now = places }

  mutating func name(_ place: UInt32, _ queue: Int) { now[place] = queue }

  /// The index of the queue. Without a record, the item is one of a global queue of its class.
  mutating func queue(at place: UInt32, band: UInt8, in queues: inout [RecordedQueue]) -> Int {
    if let known = now[place] { return known }
    if place == 0, let known = bands[band] { return known }
    let classes = [
      "default", "background", "utility", "default", "user-initiated", "user-interactive",
    ]
    let name = classes.indices.contains(Int(band)) ? classes[Int(band)] : "default"
    let label = place == 0 ? "(global, \(name))" : "(queue \(place))"
    queues.append(RecordedQueue(label: label, kind: place == 0 ? .global : .unknown))
    if place == 0 { bands[band] = queues.count - 1 } else { now[place] = queues.count - 1 }
    return queues.count - 1
  }
}
