// Room: BlackBox/EventChunk. A chunk of events: one thread appends, other processes read.
// The protocol is that of BoardRecord, with words that only grow in number between two turns:
//   owner    append: data words; used := used + n
//   next     recycle: turn := odd; used := 0; owner, base …; turn := even, greater than before
//   reader   turn; used; the data words below it; turn again. The words belong to one owner if both
//            turns are equal and even. Otherwise the chunk was recycled, and they are lost
// Each data word, and each word of the header but `used := 0`, is stored releasing and loaded
// acquiring. A reader that sees a word of the next owner therefore sees the odd turn that precedes
// it, and its second read of the turn shows that turn or a later one. A reader that sees an even
// turn sees `used` of that turn or newer, and a reader that sees `used` sees the words below it.
// The store `used := 0` needs no order: a reader that sees it early reads no word. On x86 each of
// these accesses is a plain move.
// The owner keeps `used` and the turn in its own memory, and uses nothing that it reads.
// The next owner takes the chunk under the lock of EventChunkPool, after the last append.
// Models: Verification/Models/Scenes/EventModels.swift.

import CGrandCentralLinux

struct EventChunk {
  let header: UnsafeMutablePointer<Atomic<UInt64>>
  let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// Empties the chunk for a new owner. `turn` is even and greater than each turn before by at
  /// least 2.
  func recycle(turn: UInt64, owner: UInt32, base: UInt64, previous: UInt64) {
    // relaxed: the releasing stores below order it.
    header[EventLayout.Chunk.turn].store(turn &- 1, ordering: .relaxed)
    // relaxed: see above.
    header[EventLayout.Chunk.used].store(0, ordering: .relaxed)
    // releasing: a reader that sees the new owner sees the odd turn.
    header[EventLayout.Chunk.owner].store(UInt64(owner), ordering: .releasing)
    header[EventLayout.Chunk.base].store(base, ordering: .releasing)
    header[EventLayout.Chunk.previous].store(previous, ordering: .releasing)
    // releasing: a reader that sees this turn does not see an older `used`.
    header[EventLayout.Chunk.turn].store(turn, ordering: .releasing)
  }

  /// Reads a word of a chunk before the first write. If the recorder has taken memory for the
  /// chunks, a fault by a read maps the pages of four of them (fault-around), and one by a write
  /// maps a single page. A page takes 0.5 µs, in place of 2.1, and of 4.4 without its memory.
  @inline(__always)
  func touch() {
    // relaxed: the word is not used.
    _ = words[0].load(ordering: .relaxed)
  }

  /// Stores a word at `index`, which publish() has not reached.
  @inline(__always)
  func put(_ word: UInt64, at index: Int) {
    // releasing: a reader that sees the word sees the odd turn before it.
    words[index].store(word, ordering: .releasing)
  }

  /// Shows the words below `used` to readers. Also fetches the next cache line: otherwise the first
  /// store to new memory waits for its line, and the thread's next exchange waits for the store.
  @inline(__always)
  func publish(_ used: Int) {
    gc_will_read(words + (used &+ EventLayout.lineWords))
    // releasing: a reader that sees the count sees the words.
    header[EventLayout.Chunk.used].store(UInt64(truncatingIfNeeded: used), ordering: .releasing)
  }

  /// Returns the owner and the words; `nil` if the chunk changed hands meanwhile.
  func read() -> (owner: UInt64, words: [UInt64])? {
    // acquiring: `used` of this turn, or newer.
    let turn = header[EventLayout.Chunk.turn].load(ordering: .acquiring)
    if turn & 1 != 0 { return nil }
    // acquiring: the words below it.
    let used = Int(header[EventLayout.Chunk.used].load(ordering: .acquiring))
    // acquiring: with a word of the next owner comes the odd turn before it.
    let data = (0..<min(used, EventLayout.chunkWords)).map { words[$0].load(ordering: .acquiring) }
    // acquiring: as above.
    let owner = header[EventLayout.Chunk.owner].load(ordering: .acquiring)
    // relaxed: the loads above order it.
    let again = header[EventLayout.Chunk.turn].load(ordering: .relaxed)
    return again == turn ? (owner, data) : nil
  }
}

/// Gives chunks to threads: first those that no thread has had, then the one that was full first.
// SAFETY: the lock guards all of it. A thread takes it once in a chunk.
final class EventChunkPool: @unchecked Sendable {
  struct Taken {
    let index: Int
    let turn: UInt64
    /// The words that the previous owner left.
    let previous: UInt64
  }

  private let lock = Lock()
  private var turns: [UInt64] = []
  private var left: [UInt64] = []
  /// The chunks without an owner, from `first` on, as a ring.
  private var waiting: [UInt16] = []
  private var first = 0
  private var count = 0

  /// Takes a chunk; `nil`: threads have them all.
  func take() -> Taken? {
    lock.withLock {
      if turns.count < EventLayout.chunkCapacity {
        turns.append(2)
        left.append(0)
        return Taken(index: turns.count - 1, turn: 2, previous: 0)
      }
      guard count > 0 else { return nil }
      let index = Int(waiting[first])
      first = (first + 1) % EventLayout.chunkCapacity
      count -= 1
      turns[index] &+= 2
      return Taken(index: index, turn: turns[index], previous: left[index])
    }
  }

  /// Gives a chunk back. Its events stay readable until another thread takes it.
  func give(_ index: Int, used: Int) {
    lock.withLock {
      if waiting.isEmpty { waiting = Array(repeating: 0, count: EventLayout.chunkCapacity) }
      waiting[(first + count) % EventLayout.chunkCapacity] = UInt16(index)
      count += 1
      left[index] = UInt64(used)
    }
  }

  /// Begins anew, in a forked child.
  func forget() {
    turns = []
    left = []
    count = 0
  }
}
