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
  /// An index into `Recording.origins`: from where it was submitted, if that was recorded.
  package var origin: Int?
  /// The class at which the item runs, as a band: 1 background … 5 user-interactive.
  package var band: UInt8 = 0
  /// Whether it is an event of a source, and by how many nanoseconds its timer was late.
  package var isSourceEvent = false
  package var timerLate: UInt64?

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
  /// The queues that the thread was in, innermost first, and the item that it ran.
  package var held: [Int] = []
  package var item: Int?

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
package struct RecordedFunction: Sendable, Hashable {
  package var address: UInt64
  /// What its block has captured first; 0: not known. Where the code is a thunk, this is the
  /// closure behind it.
  package var captured: UInt64
  /// Its name, and its place in the source where that is known.
  package var text: String

  package init(address: UInt64, captured: UInt64 = 0, text: String = "") {
    self.address = address
    self.captured = captured
    self.text = text
  }
}

/// From where items were submitted.
package struct RecordedOrigin: Sendable {
  /// Return addresses, innermost first.
  package var addresses: [UInt64]
  /// The program's functions among them, without the engine's own, with their places in the source
  /// where those are known.
  package var frames: [String] = []

  package init(addresses: [UInt64]) { self.addresses = addresses }
}

/// A recording that was read from a file. Times are nanoseconds of CLOCK_MONOTONIC.
package struct Recording: Sendable {
  package var process = 0
  package var name = "?"
  /// One item in this number is recorded.
  package var interval = 1
  /// The number of threads that the pool runs at a time; 0: not known.
  package var width = 0
  package var threads: [UInt32: String] = [:]
  package var queues: [RecordedQueue] = []
  package var functions: [RecordedFunction] = []
  package var origins: [RecordedOrigin] = []
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
    /// Of a submission: an index into `origins`.
    var origin: Int?
  }

  /// Reads a file.
  package init(path: String) throws {
    guard let bytes = readBytes(path) else {
      throw InsideError("\(path): \(systemMessage())")
    }
    try self.init(bytes, path: path)
  }

  package init(_ bytes: [UInt8], path: String) throws {
    guard let format = RecordingFile.format(of: bytes) else {
      throw InsideError(
        "\(path) is no recording: its first bytes are wrong. 'grandcentral record' makes one.")
    }
    guard format <= RecordingFile.format else {
      throw InsideError(
        """
        \(path) was recorded by a newer release: it has format \(format), and this command, of \
        release \(EngineVersion.text), reads formats 1 to \(RecordingFile.format). Use the command \
        that recorded it.
        """)
    }
    var blocks = RecordingBlocks()
    blocks.read(bytes.dropFirst(RecordingFile.mark.count))
    process = blocks.process
    name = blocks.name
    interval = blocks.interval
    width = blocks.width
    threads = blocks.threads
    queues = blocks.queues
    lostWords = blocks.lostWords
    var joiner = RecordingJoiner(self)
    joiner.join(&blocks)
    self = joiner.recording
    // A return address may be that of the function behind: the call ends before it.
    let calls = Set(origins.flatMap { $0.addresses.map { $0 &- 1 } })
    let names = CodeNames.names(
      of: functions.flatMap { [$0.address, $0.captured] } + calls, in: blocks.maps)
    for index in functions.indices {
      var name = names[functions[index].address]
      if name?.isThunk == true { name = names[functions[index].captured] ?? name }
      functions[index].text = name?.text ?? ""
    }
    for index in origins.indices {
      origins[index].frames = origins[index].addresses.compactMap { address in
        names[address &- 1].flatMap { $0.isOfEngine ? nil : $0.text }
      }
    }
  }
}
