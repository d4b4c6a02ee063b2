// Reads the records of a board, each as it was at one moment: the reader's side of the protocol in
// BlackBox/BoardRecord. It reads pieces, so that a record that changes repeats the reading of its
// piece alone, and so that the words of a piece are still in the processor's cache when the next
// pass reads them. One reader reads all pieces into the same memory.

/// Reads records, piece by piece.
struct RecordReader<Source: BoardSource> {
  private let source: Source
  /// The words of three passes over a piece: turns, data, turns.
  private var passes: [UInt64]
  /// Records that changed during each attempt to read them.
  private(set) var torn = 0

  private static var attempts: Int { 8 }
  private static var pieceRecords: Int { 128 }
  private static var passWords: Int { pieceRecords * BoardLayout.recordWords }

  init(_ source: Source) {
    self.source = source
    passes = Array(repeating: 0, count: 3 * Self.passWords)
  }

  /// Calls `body` with the index and the words of each of `count` records that is whole.
  mutating func read(at offset: Int, count: Int, _ body: (Int, Span<UInt64>) -> Void) {
    for first in stride(from: 0, to: count, by: Self.pieceRecords) {
      let piece = min(Self.pieceRecords, count - first)
      readPiece(at: offset + first * BoardLayout.recordBytes, count: piece) {
        body(first + $0, $1)
      }
    }
  }

  private mutating func readPiece(
    at offset: Int, count: Int, _ body: (Int, Span<UInt64>) -> Void
  ) {
    let size = BoardLayout.recordWords
    var missing: [Int]?
    for _ in 0..<Self.attempts {
      // Each pass is a call of its own, which orders it after the one before.
      var whole = read(0, at: offset, count: count)
      // Most pieces are holes.
      if missing == nil, areZero(whole * size) { return }
      for pass in 1...2 { whole = min(whole, read(pass, at: offset, count: count)) }
      let words = passes.span
      var changed: [Int] = []
      for step in 0..<(missing?.count ?? count) {
        let index = missing?[step] ?? step
        // Cut off: the file is too short.
        if index >= whole { continue }
        let (first, last) = (index * size, 2 * Self.passWords + index * size)
        if words[first] & 1 == 0, words[last] == words[first] {
          body(index, words.extracting(Self.passWords + first..<Self.passWords + first + size))
        } else {
          changed.append(index)
        }
      }
      if changed.isEmpty { return }
      missing = changed
    }
    torn += missing?.count ?? 0
  }

  /// Reads the piece once more. Returns how many records are whole.
  private mutating func read(_ pass: Int, at offset: Int, count: Int) -> Int {
    let source = source
    let first = pass * Self.passWords
    return passes.withUnsafeMutableBufferPointer { words in
      source.read(
        at: offset,
        into: UnsafeMutableBufferPointer(
          rebasing: words[first..<first + count * BoardLayout.recordWords]))
    } / BoardLayout.recordWords
  }

  /// Whether the first words of the first pass are 0.
  private func areZero(_ count: Int) -> Bool {
    let words = passes.span
    for index in 0..<count where words[index] != 0 { return false }
    return true
  }
}
