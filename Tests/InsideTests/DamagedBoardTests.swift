// The reader on boards that are damaged by accident or on purpose: it ends, without a crash.
import GrandCentralCore
import GrandCentralInside
import TestSupport
import Testing

/// A board in memory, as an array of words.
private struct WordSource: BoardSource {
  var words: [UInt64]

  func read(at offset: Int, into buffer: UnsafeMutableBufferPointer<UInt64>) -> Int {
    buffer.update(fromContentsOf: words.dropFirst(offset / 8).prefix(buffer.count))
  }

  /// A board of 24 threads and 48 queues: two threads wait for each other's queue, and the others
  /// for queues at random.
  init(using random: inout SeededGenerator) {
    let queues = 48
    let start = BoardLayout.queuesOffset / 8
    words = Array(repeating: 0, count: start + 64 * BoardLayout.recordWords)
    words[BoardLayout.Header.magic] = BoardLayout.magic
    words[BoardLayout.Header.version] = BoardLayout.version
    words[BoardLayout.Header.recordBytes] = UInt64(BoardLayout.recordBytes)
    words[BoardLayout.Header.threadCapacity] = UInt64(BoardLayout.threadCapacity)
    words[BoardLayout.Header.queueCapacity] = UInt64(BoardLayout.queueCapacity)
    words[BoardLayout.Header.process] = 1234
    words[BoardLayout.Header.threadsUsed] = 24
    words[BoardLayout.Header.width] = 4
    words[BoardLayout.Header.maxThreads] = 16
    func place() -> UInt64 { UInt64.random(in: 0...UInt64(queues), using: &random) }
    for slot in 0..<24 {
      let first = BoardLayout.threadsOffset / 8 + slot * BoardLayout.recordWords
      let kind = UInt64.random(in: 0...7, using: &random)
      let activity = UInt64.random(in: 1...3, using: &random)
      let holder = UInt64.random(in: 99...124, using: &random)
      words[first] = 2
      words[first + BoardLayout.Thread.identity] = UInt64(100 + slot) | 1 << 32
      words[first + BoardLayout.Thread.activity] = activity | kind << 16 | 2 << 24 | holder << 32
      words[first + BoardLayout.Thread.since] = 1
      words[first + BoardLayout.Thread.queues] = place() | place() << 32
      words[first + BoardLayout.Thread.held] = place() | place() << 32
    }
    for number in 1...queues {
      let first = start + number * BoardLayout.recordWords
      words[first] = 2
      words[first + BoardLayout.Queue.address] = UInt64(number) << 12
      words[first + BoardLayout.Queue.kind] = UInt64.random(in: 0...4, using: &random)
      words[first + BoardLayout.Queue.target] = place()
      words[first + BoardLayout.Queue.suspendedSince] = number % 9 == 0 ? 1 : 0
      words[first + BoardLayout.Queue.labelBytes] = 8
      words[first + BoardLayout.Queue.label] = 0x6162_6364_6566_6768
    }
    for slot: UInt64 in 0...1 {
      let first = BoardLayout.threadsOffset / 8 + Int(slot) * BoardLayout.recordWords
      let (own, awaited, holder) = (1 + slot, 2 - slot, 101 - slot)
      words[first + BoardLayout.Thread.activity] = 3 | 1 << 16 | 1 << 24 | holder << 32
      words[first + BoardLayout.Thread.queues] = awaited | own << 32
      words[first + BoardLayout.Thread.held] = own
      let queue = start + Int(own) * BoardLayout.recordWords
      words[queue + BoardLayout.Queue.kind] = 0
      words[queue + BoardLayout.Queue.target] = 0
    }
  }

  /// Overwrites words behind the marks of the header, or cuts the end off.
  mutating func damage(using random: inout SeededGenerator) {
    let extremes: [UInt64] = [0, 1, 2, 0xff, 1 << 31, 1 << 32, 1 << 63, .max - 1, .max]
    let header = BoardLayout.Header.process..<BoardLayout.Header.name + 2
    let threads = BoardLayout.threadsOffset / 8
    let queues = BoardLayout.queuesOffset / 8
    for _ in 0..<Int.random(in: 1...64, using: &random) {
      let index =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Int.random(in: header, using: &random)
        case 1, 2: threads + Int.random(in: 0..<24 * BoardLayout.recordWords, using: &random)
        default: queues + Int.random(in: 0..<50 * BoardLayout.recordWords, using: &random)
        }
      let isExtreme = Bool.random(using: &random)
      let noise = UInt64.random(in: 0...UInt64.max, using: &random)
      words[index] = isExtreme ? extremes.randomElement(using: &random) ?? 0 : words[index] ^ noise
    }
    if Int.random(in: 0..<8, using: &random) == 0 {
      words.removeLast(Int.random(in: 0...words.count, using: &random))
    }
  }
}

/// A board whose queue 7 changes during each of the first reads of its record.
private final class ChangingSource: BoardSource {
  private var source: WordSource
  private var changes: Int

  init(_ source: WordSource, changes: Int) {
    self.source = source
    self.changes = changes
  }

  func read(at offset: Int, into buffer: UnsafeMutableBufferPointer<UInt64>) -> Int {
    let read = source.read(at: offset, into: buffer)
    if offset == BoardLayout.queuesOffset, changes > 0 {
      changes -= 1
      source.words[BoardLayout.queuesOffset / 8 + 7 * BoardLayout.recordWords] += 2
    }
    return read
  }
}

/// Whether a terminal would only print the text.
private func isHarmless(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
}

@Suite("The reader of boards") struct DamagedBoardTests {
  @Test func `ends on any damage, and prints no control character`() {
    var random = SeededGenerator(for: "the reader of boards")
    var read = 0
    var found: Set<Finding.Kind> = []
    for _ in 0..<300 {
      var source = WordSource(using: &random)
      source.damage(using: &random)
      do {
        let dump = try Dump(source)
        read += 1
        found.formUnion(dump.findings.map(\.kind))
        #expect(isHarmless(dump.text(all: true, style: Style(isColoured: false))))
        #expect(isHarmless(dump.json()))
      } catch {
        #expect("\(error)".contains("board"), "\(error)")
      }
    }
    // The damage leaves most boards readable, so that the analysis sees it.
    #expect(read > 100 && found.contains(.deadlock), "\(read) \(found)")
  }

  @Test func `reads a record again that has changed meanwhile`() throws {
    var random = SeededGenerator(for: "changing boards")
    let source = WordSource(using: &random)
    let all = try Snapshot(source)
    #expect(all.queues.values.map(\.place) == Array(1...48) && all.torn == 0)
    let changed = try Snapshot(ChangingSource(source, changes: 5))
    #expect(changed.queues.values.map(\.place) == Array(1...48) && changed.torn == 0)
    #expect(changed.queues[7]?.label == all.queues[7]?.label)
    // A record that changes each time is left out, and no other.
    let torn = try Snapshot(ChangingSource(source, changes: .max))
    #expect(torn.queues.values.map(\.place) == (1...48).filter { $0 != 7 } && torn.torn == 1)
    #expect(torn.queues[7] == nil && torn.queues[8]?.place == 8 && torn.queues[49] == nil)
  }

  @Test func `refuses what is no board`() {
    var random = SeededGenerator(for: "no boards")
    for index in [
      BoardLayout.Header.magic, BoardLayout.Header.version, BoardLayout.Header.recordBytes,
      BoardLayout.Header.threadCapacity, BoardLayout.Header.queueCapacity,
    ] {
      var source = WordSource(using: &random)
      source.words[index] ^= 1 << UInt64.random(in: 0..<64, using: &random)
      #expect(throws: InsideError.self) { try Dump(source) }
    }
    var empty = WordSource(using: &random)
    empty.words = []
    #expect(throws: InsideError.self) { try Dump(empty) }
  }

  @Test func `ends on a cycle of 4,095 targets`() throws {
    var random = SeededGenerator(for: "long targets")
    var source = WordSource(using: &random)
    let start = BoardLayout.queuesOffset / 8
    let count = 4096
    source.words += Array(repeating: 0, count: count * BoardLayout.recordWords)
    for number in 1..<count {
      let first = start + number * BoardLayout.recordWords
      source.words[first] = 2
      source.words[first + BoardLayout.Queue.address] = 4096
      source.words[first + BoardLayout.Queue.kind] = 0
      source.words[first + BoardLayout.Queue.target] = UInt64(number % (count - 1) + 1)
    }
    let text = try Dump(source).text(all: true, style: Style(isColoured: false))
    #expect(text.contains("\nQueues ("))
  }
}
