// Room: BlackBox/BoardRecord. A record of 16 words that one thread at a time writes, and that other
// processes read at any time.
// The protocol is a seqlock. Word 0 is the turn:
//   writer   turn := odd; data words; turn := even, greater than each turn before
//   reader   turn; data words; turn again. The words belong together if both turns are equal and
//            even. Otherwise the reader tries again
// There is no fence: each data word is stored releasing and loaded acquiring. A reader that sees a
// new word therefore sees the odd turn that precedes it, and its second read of the turn shows that
// turn or a later one. A reader whose first read shows an even turn sees the words of that turn or
// newer ones. On x86 each of these accesses is a plain move.
// The writer keeps the turn in its own memory and never reads the record: the memory is shared with
// other processes, which might change it. So a damaged board can mislead a reader, never the
// engine. Where the reader uses read(2), the calls for turn, words and turn take the place of the
// loads.
// Models: Verification/Models/Scenes/BoardModels.swift.

struct BoardRecord {
  let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// Writes the record: `body` stores data words. `turn` is the last even turn of the record, and
  /// becomes the next.
  @inline(__always)
  func write(_ turn: inout UInt64, _ body: (borrowing BoardRecord) -> Void) {
    // relaxed: the releasing store of each data word orders it.
    words[0].store(turn &+ 1, ordering: .relaxed)
    body(self)
    turn &+= 2
    // releasing: a reader that sees this turn sees its data words.
    words[0].store(turn, ordering: .releasing)
  }

  /// Stores a data word. Only inside write().
  @inline(__always)
  func set(_ index: Int, _ value: UInt64) {
    // releasing: a reader that sees the value sees the odd turn.
    words[index].store(value, ordering: .releasing)
  }

  /// Returns `count` data words that belong together; `nil` if the record is being written.
  func read(_ count: Int) -> [UInt64]? {
    // acquiring: the words of this turn, or newer ones.
    let turn = words[0].load(ordering: .acquiring)
    if turn & 1 != 0 { return nil }
    // acquiring: with a newer word comes the odd turn before it.
    let data = (1...count).map { words[$0].load(ordering: .acquiring) }
    // relaxed: the loads above order it.
    return words[0].load(ordering: .relaxed) == turn ? data : nil
  }
}
