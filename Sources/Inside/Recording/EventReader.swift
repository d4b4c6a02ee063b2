// Reads the event chunks of a board while threads write them.
// The order is that of the protocol in BlackBox/EventChunk: the directory with turns and counts,
// the words, the directory again. Words of a chunk whose turn has changed are lost.
import GrandCentralCore

/// Events of one thread, as words.
package struct EventBatch: Equatable, Sendable {
  package var thread: UInt32
  /// A time shortly before the first event of the chunk.
  package var base: UInt64
  package var words: [UInt64]
}

/// Follows the chunks of one board.
package struct EventReader {
  private struct Seen {
    var turn: UInt64 = 0
    var used = 0
  }
  private var seen = [Seen](repeating: Seen(), count: EventLayout.chunkCapacity)
  /// Words that were overwritten before they were read.
  package private(set) var lostWords: UInt64 = 0

  package init() {}

  private struct Header {
    let turn: UInt64
    let used: Int
    let owner: UInt32
    let base: UInt64
    let previous: UInt64

    init(_ words: ArraySlice<UInt64>) {
      let first = words.startIndex
      turn = words[first + EventLayout.Chunk.turn]
      // Hostile bytes may say anything.
      used = Int(min(words[first + EventLayout.Chunk.used], UInt64(EventLayout.chunkWords)))
      owner = UInt32(truncatingIfNeeded: words[first + EventLayout.Chunk.owner])
      base = words[first + EventLayout.Chunk.base]
      previous = min(
        words[first + EventLayout.Chunk.previous], UInt64(EventLayout.chunkWords))
    }
  }

  private static func headers(_ source: some BoardSource) -> [Header] {
    let count = EventLayout.headerBytes / 8
    let words = source.words(
      at: EventLayout.directoryOffset, count: EventLayout.chunkCapacity * count)
    return (0..<words.count / count).map { Header(words[$0 * count..<($0 + 1) * count]) }
  }

  /// Marks everything that is there as read.
  package mutating func skip(_ source: some BoardSource) {
    for (index, header) in Self.headers(source).enumerated() where header.turn & 1 == 0 {
      seen[index] = Seen(turn: header.turn, used: header.used)
    }
  }

  /// Returns the events that came since the last call.
  package mutating func read(_ source: some BoardSource) -> [EventBatch] {
    var found: [(index: Int, from: Int, batch: EventBatch)] = []
    let before = Self.headers(source)
    for (index, header) in before.enumerated() where header.turn & 1 == 0 && header.turn != 0 {
      if seen[index].turn != header.turn {
        countLost(of: header, seen[index])
        seen[index] = Seen(turn: header.turn)
      }
      let from = seen[index].used
      guard from < header.used else { continue }
      let offset = EventLayout.chunksOffset + index * EventLayout.chunkBytes + from * 8
      let words = source.words(at: offset, count: header.used - from)
      let batch = EventBatch(thread: header.owner, base: header.base, words: words)
      found.append((index, from, batch))
    }
    if found.isEmpty { return [] }
    let after = Self.headers(source)
    return found.compactMap { index, from, batch in
      guard after.indices.contains(index), after[index].turn == before[index].turn else {
        // The next pass counts them: `previous` says how many there were.
        return nil
      }
      seen[index].used = from + batch.words.count
      return batch
    }
  }

  /// Counts what the previous owners of a chunk wrote and this reader missed.
  private mutating func countLost(of header: Header, _ seen: Seen) {
    guard header.turn > seen.turn, seen.turn != 0 || header.turn > 2 else { return }
    let owners = min((header.turn - seen.turn) / 2, 1 << 32)
    let whole = owners > 1 ? (owners - 1) * UInt64(EventLayout.chunkWords) : 0
    let isRead = owners == 1 ? UInt64(seen.used) : 0
    lostWords &+= whole + (header.previous > isRead ? header.previous - isRead : 0)
  }
}
