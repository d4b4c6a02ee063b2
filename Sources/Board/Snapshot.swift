// A board as values: threads and queues. Every byte may be wrong, by accident or on purpose, so
// each number is checked before it is used, and each text is made printable.

/// A thread as its record shows it.
package struct ThreadRecord: Sendable {
  package var id: UInt32
  package var isWorker: Bool
  package var isMain: Bool
  package var name: String
  package var activity: BoardActivity
  package var band: UInt8
  package var wait: BoardWaitKind
  /// The thread that held the awaited object when the wait began, or 0.
  package var holder: UInt32
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var since: UInt64
  package var object: UInt64
  /// The places of queues; 0: none.
  package var awaitedQueue: UInt32
  /// Whether it waits to enter that queue alone, beside which others may be inside.
  package var waitsForBarrier: Bool
  package var queue: UInt32
  package var queueSince: UInt64
  /// How many items of that queue it has begun since then; 0: not known.
  package var itemsOnQueue: UInt32
  /// The queues that a waiting thread is in, innermost first.
  package var held: [UInt32]
}

/// A queue as its record shows it.
package struct QueueRecord: Sendable {
  package enum Kind: String, Sendable { case serial, concurrent, global, main, unknown }
  package var place: UInt32
  package var label: String
  package var kind: Kind
  package var target: UInt32
  package var suspendedSince: UInt64
  package var queuedSuspended: UInt64
  /// Main queue: since when work waits that no thread has begun to drain, or 0.
  package var undrainedSince: UInt64
  /// The band of the queue's own QoS; 0: unspecified.
  package var band: UInt8
}

/// The contents of a board at about one moment.
package struct Snapshot: Sendable {
  package var process: Int
  package var name: String
  package var width: Int
  package var maxThreads: Int
  package var madeWall: UInt64
  /// Notifications that wait for a group to become empty.
  package var pendingNotifications: Int
  package var threads: [ThreadRecord] = []
  package var queues = QueueTable()
  /// Records that changed during each attempt to read them.
  package var torn = 0
  /// The latest time on the board.
  package var latest: UInt64 = 0

  /// Reads a board.
  package init(_ source: some BoardSource) throws {
    let header = source.words(at: 0, count: BoardLayout.headerBytes / 8)
    func field(_ index: Int) -> UInt64 { header.indices.contains(index) ? header[index] : 0 }
    guard field(BoardLayout.Header.magic) == BoardLayout.magic,
      header.count == BoardLayout.headerBytes / 8
    else {
      throw InsideError(
        "This is no board of Grand Central, or it was damaged, or is being made: its first bytes are wrong."
      )
    }
    guard field(BoardLayout.Header.version) == BoardLayout.version,
      field(BoardLayout.Header.recordBytes) == UInt64(BoardLayout.recordBytes),
      field(BoardLayout.Header.threadCapacity) == UInt64(BoardLayout.threadCapacity),
      field(BoardLayout.Header.queueCapacity) == UInt64(BoardLayout.queueCapacity)
    else {
      throw Self.otherLayout(header)
    }
    process = Int(field(BoardLayout.Header.process) & 0x3fff_ffff)
    width = Int(field(BoardLayout.Header.width) & 0xffff)
    maxThreads = Int(field(BoardLayout.Header.maxThreads) & 0xffff)
    madeWall = field(BoardLayout.Header.madeWall)
    name = Self.text(header.span, at: BoardLayout.Header.name, bytes: 15)
    let pending = (0..<BoardLayout.Header.notificationLines).reduce(UInt64(0)) {
      $0 &+ field(BoardLayout.Header.notifications + $1 * 8)
    }
    pendingNotifications = max(0, Int(Int64(bitPattern: pending)))
    let threadsUsed = min(
      field(BoardLayout.Header.threadsUsed), UInt64(BoardLayout.threadCapacity))
    var queuesUsed = field(BoardLayout.Header.queuesUsed)
    if queuesUsed == 0 || queuesUsed > UInt64(BoardLayout.queueCapacity) {
      queuesUsed = UInt64(BoardLayout.queueCapacity)
    }
    var reader = RecordReader(source)
    reader.read(at: BoardLayout.threadsOffset, count: Int(threadsUsed)) { _, words in
      if let thread = ThreadRecord(words) { threads.append(thread) }
    }
    reader.read(at: BoardLayout.queuesOffset, count: Int(queuesUsed)) { place, words in
      if let queue = QueueRecord(words, place: UInt32(place)) { queues.insert(queue) }
    }
    torn = reader.torn
    latest =
      threads.map { max($0.since, $0.queueSince) }.max() ?? field(BoardLayout.Header.made)
  }

  /// Says which command reads the board.
  private static func otherLayout(_ header: [UInt64]) -> InsideError {
    let version = header[BoardLayout.Header.version]
    let release = text(header.span, at: BoardLayout.Header.release, bytes: 15)
    let layouts = """
      its board has layout \(version), and this command, of release \(EngineVersion.text), reads \
      layout \(BoardLayout.version)
      """
    let engine = release.isEmpty ? "Grand Central" : "Grand Central \(release)"
    if version > BoardLayout.version {
      return InsideError(
        """
        The program runs on a newer engine, \(engine): \(layouts). Use the command that was \
        installed with the program's library, or install the program's release.
        """)
    }
    if version < BoardLayout.version {
      return InsideError(
        """
        The program runs on an older engine, \(engine): \(layouts). The program was started \
        before an upgrade, or brings its own library. Restart it on the new library, or use the \
        command of its release.
        """)
    }
    return InsideError("The board was damaged: its header has other sizes than its layout.")
  }

  /// A text of the board, without characters that would steer a terminal.
  package static func text(_ words: Span<UInt64>, at index: Int, bytes: Int) -> String {
    let raw = words.extracting(droppingFirst: index).bytes.extracting(first: bytes)
    return raw.withUnsafeBytes { raw in
      let end = raw.firstIndex(of: 0) ?? raw.endIndex
      let text = UnsafeRawBufferPointer(rebasing: raw[..<end])
      return printable(String(decoding: text, as: UTF8.self))
    }
  }

  package static func printable(_ text: String) -> String {
    // Nearly all texts are: to look up the category of each character takes most of the time.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "?"
          default: scalar
          }
        }))
  }
}

extension ThreadRecord {
  init?(_ words: Span<UInt64>) {
    let identity = words[BoardLayout.Thread.identity]
    let activity = words[BoardLayout.Thread.activity]
    id = UInt32(truncatingIfNeeded: identity)
    guard id != 0, let what = BoardActivity(rawValue: UInt8(truncatingIfNeeded: activity)),
      what != .none
    else { return nil }
    self.activity = what
    isWorker = identity >> 32 & BoardLayout.Thread.isWorker != 0
    isMain = identity >> 32 & BoardLayout.Thread.isMain != 0
    band = UInt8(truncatingIfNeeded: activity >> 8)
    let kind = BoardWaitKind(rawValue: UInt8(truncatingIfNeeded: activity >> 16)) ?? .none
    wait = what == .waiting ? kind : .none
    holder = what == .waiting ? UInt32(truncatingIfNeeded: activity >> 32) : 0
    since = words[BoardLayout.Thread.since]
    object = words[BoardLayout.Thread.object]
    let queues = words[BoardLayout.Thread.queues]
    awaitedQueue = what == .waiting ? UInt32(truncatingIfNeeded: queues) : 0
    waitsForBarrier = wait == .queue && activity & BoardLayout.Thread.waitsForBarrier != 0
    queue = UInt32(truncatingIfNeeded: queues >> 32)
    queueSince = words[BoardLayout.Thread.queueSince]
    itemsOnQueue = UInt32(truncatingIfNeeded: words[BoardLayout.Thread.items])
    held = []
    let count = Int(activity >> BoardLayout.Thread.heldShift & BoardLayout.Thread.heldMask)
    for index in 0..<min(what == .waiting ? count : 0, BoardLayout.Thread.maxHeld) {
      let word = words[BoardLayout.Thread.held + index / 2]
      held.append(UInt32(truncatingIfNeeded: index % 2 == 0 ? word : word >> 32))
    }
    name = Snapshot.text(words, at: BoardLayout.Thread.name, bytes: 15)
  }
}

extension QueueRecord {
  init?(_ words: Span<UInt64>, place: UInt32) {
    guard place != 0, words[BoardLayout.Queue.address] != 0 else { return nil }
    self.place = place
    kind =
      switch words[BoardLayout.Queue.kind] & 0xff {
      case 0: .serial
      case 1: .concurrent
      case 2: .global
      case 3: .main
      default: .unknown
      }
    target = UInt32(truncatingIfNeeded: words[BoardLayout.Queue.target])
    band = UInt8(truncatingIfNeeded: words[BoardLayout.Queue.kind] >> 24)
    suspendedSince = words[BoardLayout.Queue.suspendedSince]
    queuedSuspended = words[BoardLayout.Queue.queuedSuspended]
    undrainedSince = kind == .main ? words[BoardLayout.Queue.undrainedSince] : 0
    let bytes = min(
      words[BoardLayout.Queue.labelBytes], UInt64(BoardLayout.Queue.maxLabelBytes))
    label = Snapshot.text(words, at: BoardLayout.Queue.label, bytes: Int(bytes))
  }
}
