// The board of this process, read where it lies. A page of the board that no queue has used is not
// read, because reading it would give it memory.

/// This process's own board.
package struct OwnBoard: BoardSource {
  package init() {}

  package func read(at offset: Int, into words: UnsafeMutableBufferPointer<UInt64>) -> Int {
    BlackBox.readWords(at: offset, into: words)
  }
}

extension Dump {
  /// Looks at this process, as at another one. `nil`: it has no board, because it has not used a
  /// queue yet or the system refused memory.
  package static func ofThisProcess(
    stuckAfter: UInt64, pausing: (() -> Void) -> Void = { $0() }
  ) -> Dump? {
    try? Dump(OwnBoard(), process: Int(getpid()), stuckAfter: stuckAfter, pausing: pausing)
  }
}

/// Returns the lines that say which queues hold the workers and what these wait for, for the
/// engine's report at the limit of threads; `nil`: the board does not show it. The caller frees the
/// text.
@c(gc_board_holders)
public func boardHolders() -> UnsafeMutablePointer<CChar>? {
  guard let snapshot = try? Snapshot(OwnBoard()) else { return nil }
  let process = Int(getpid())
  let lines = Analysis(
    snapshot, now: Clock.monotonicNanoseconds(), stuckAfter: 0,
    isAsleep: { KernelThread($0, of: process)?.isAsleep }
  ).holders()
  return lines.isEmpty ? nil : strdup(lines.joined(separator: "\n"))
}
