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
  package var queue: UInt32
  package var queueSince: UInt64
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
  package var threads: [ThreadRecord] = []
  package var queues: [UInt32: QueueRecord] = [:]
  /// Records that changed during each attempt to read them.
  package var torn = 0
  /// The latest time on the board.
  package var latest: UInt64 = 0

  private static let attempts = 8

  /// Reads a board.
  package init(_ source: some BoardSource) throws {
    let header = Self.words(source.read(at: 0, count: BoardLayout.headerBytes))
    func field(_ index: Int) -> UInt64 { header.indices.contains(index) ? header[index] : 0 }
    guard field(BoardLayout.Header.magic) == BoardLayout.magic else {
      throw InsideError(
        "This is no board of Grand Central, or it was damaged, or is being made: its first bytes are wrong."
      )
    }
    guard field(BoardLayout.Header.version) == BoardLayout.version,
      field(BoardLayout.Header.recordBytes) == UInt64(BoardLayout.recordBytes),
      field(BoardLayout.Header.threadCapacity) == UInt64(BoardLayout.threadCapacity),
      field(BoardLayout.Header.queueCapacity) == UInt64(BoardLayout.queueCapacity)
    else {
      throw InsideError(
        """
        The board has another layout (version \(field(BoardLayout.Header.version)), this command \
        reads \
        \(BoardLayout.version)). Use the command of the program's own version of Grand Central.
        """)
    }
    process = Int(field(BoardLayout.Header.process) & 0x3fff_ffff)
    width = Int(field(BoardLayout.Header.width) & 0xffff)
    maxThreads = Int(field(BoardLayout.Header.maxThreads) & 0xffff)
    madeWall = field(BoardLayout.Header.madeWall)
    name = Self.text(header, at: BoardLayout.Header.name, bytes: 15)
    let used = field(BoardLayout.Header.threadsUsed)
    readThreads(source, count: Int(min(used, UInt64(BoardLayout.threadCapacity))))
    let queuesUsed = field(BoardLayout.Header.queuesUsed)
    readQueues(
      source,
      count: queuesUsed == 0 || queuesUsed > UInt64(BoardLayout.queueCapacity)
        ? BoardLayout.queueCapacity : Int(queuesUsed))
    latest =
      threads.flatMap { [$0.since, $0.queueSince] }.max() ?? field(BoardLayout.Header.made)
  }

  /// Reads records until each is whole: turn, data, turn. Each pass is a call of its own, which
  /// orders it after the one before.
  private mutating func records(
    _ source: some BoardSource, at offset: Int, count: Int,
    _ body: (Int, ArraySlice<UInt64>) -> Void
  ) {
    let size = BoardLayout.recordWords
    var missing = Array(0..<count)
    for _ in 0..<Self.attempts where !missing.isEmpty {
      let passes = (0..<3).map { _ in
        Self.words(source.read(at: offset, count: count * BoardLayout.recordBytes))
      }
      let whole = passes.map(\.count).min().unsafelyUnwrapped / size
      missing.removeAll { index in
        // Cut off: the file is too short.
        guard index < whole else { return true }
        let turn = passes[0][index * size]
        guard turn & 1 == 0, passes[2][index * size] == turn else { return false }
        body(index, passes[1][index * size..<(index + 1) * size])
        return true
      }
    }
    torn += missing.count
  }

  private mutating func readThreads(_ source: some BoardSource, count: Int) {
    var found: [ThreadRecord] = []
    records(source, at: BoardLayout.threadsOffset, count: count) { _, words in
      if let thread = ThreadRecord(Array(words)) { found.append(thread) }
    }
    threads = found
  }

  private mutating func readQueues(_ source: some BoardSource, count: Int) {
    // In pieces, so that one record that changes does not repeat the reading of all.
    var found: [UInt32: QueueRecord] = [:]
    let piece = 512
    for first in stride(from: 0, to: count, by: piece) {
      let piece = min(piece, count - first)
      let offset = BoardLayout.queuesOffset + first * BoardLayout.recordBytes
      let bytes = source.read(at: offset, count: piece * BoardLayout.recordBytes)
      if bytes.isEmpty { break }
      // Most pieces are holes.
      if Self.areZero(bytes) { continue }
      records(source, at: offset, count: piece) { index, words in
        let place = UInt32(first + index)
        if let queue = QueueRecord(Array(words), place: place) { found[place] = queue }
      }
    }
    queues = found
  }

  /// Whether all bytes are 0: the first is, and each equals the next.
  private static func areZero(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard let first = bytes.baseAddress, bytes[0] == 0 else { return bytes.isEmpty }
      return memcmp(first, first + 1, bytes.count - 1) == 0
    }
  }

  package static func words(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { bytes in
      (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
  }

  /// A text of the board, without characters that would steer a terminal.
  package static func text(_ words: [UInt64], at index: Int, bytes: Int) -> String {
    let raw = words[index...].flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
    return printable(String(decoding: raw.prefix(bytes).prefix { $0 != 0 }, as: UTF8.self))
  }

  package static func printable(_ text: String) -> String {
    String(
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
  init?(_ words: [UInt64]) {
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
    queue = UInt32(truncatingIfNeeded: queues >> 32)
    queueSince = words[BoardLayout.Thread.queueSince]
    let count = min(Int(activity >> 24 & 0xff), BoardLayout.Thread.maxHeld)
    held = (0..<count).map { index in
      let word = words[BoardLayout.Thread.held + index / 2]
      return UInt32(truncatingIfNeeded: index % 2 == 0 ? word : word >> 32)
    }
    if what != .waiting { held = [] }
    name = Snapshot.text(words, at: BoardLayout.Thread.name, bytes: 15)
  }
}

extension QueueRecord {
  init?(_ words: [UInt64], place: UInt32) {
    guard place != 0, words[BoardLayout.Queue.address] != 0 else { return nil }
    self.place = place
    let kinds: [Kind] = [.serial, .concurrent, .global, .main]
    let kind = Int(words[BoardLayout.Queue.kind] & 0xff)
    self.kind = kinds.indices.contains(kind) ? kinds[kind] : .unknown
    target = UInt32(truncatingIfNeeded: words[BoardLayout.Queue.target])
    band = UInt8(truncatingIfNeeded: words[BoardLayout.Queue.kind] >> 24)
    suspendedSince = words[BoardLayout.Queue.suspendedSince]
    queuedSuspended = words[BoardLayout.Queue.queuedSuspended]
    let bytes = min(
      words[BoardLayout.Queue.labelBytes], UInt64(BoardLayout.Queue.maxLabelBytes))
    label = Snapshot.text(words, at: BoardLayout.Queue.label, bytes: Int(bytes))
  }
}
