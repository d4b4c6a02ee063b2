// Purpose: how far a run has come, counted by whichever thread does the work, and who draws next.

import Synchronization

/// Counts of files and bytes that any thread adds to, with a drawing due once an interval.
public final class Gauge: Sendable {
  // relaxed throughout: the counts are only shown, nothing else is read on their account.
  private let files = Atomic<Int>(0)
  private let bytes = Atomic<Int>(0)
  private let nextDrawing: Atomic<UInt64>
  private let intervalNanoseconds: UInt64
  public let start: UInt64

  /// - Parameter intervalNanoseconds: the time from one drawing to the next; nil for no drawing.
  public init(intervalNanoseconds: UInt64?) {
    let now = Machine.nanoseconds
    start = now
    self.intervalNanoseconds = intervalNanoseconds ?? 0
    nextDrawing = Atomic(intervalNanoseconds.map { now + $0 } ?? .max)
  }

  /// The counts so far.
  public var figures: (files: Int, bytes: Int) {
    (files.load(ordering: .relaxed), bytes.load(ordering: .relaxed))
  }

  /// Adds to the counts. True when a drawing is due: the caller alone is asked to see to it.
  public func advance(files newFiles: Int = 0, bytes newBytes: Int = 0) -> Bool {
    if newFiles != 0 { files.wrappingAdd(newFiles, ordering: .relaxed) }
    if newBytes != 0 { bytes.wrappingAdd(newBytes, ordering: .relaxed) }
    let due = nextDrawing.load(ordering: .relaxed)
    if due == .max { return false }
    let now = Machine.nanoseconds
    if now < due { return false }
    return nextDrawing.compareExchange(
      expected: due, desired: now + intervalNanoseconds, ordering: .relaxed
    ).exchanged
  }
}
