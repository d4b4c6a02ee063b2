// Purpose: the progress of a run, counted by every thread that works, and the next drawing's time.

import Synchronization

/// Counts of files and bytes to which any thread adds, with a drawing due at each interval.
public final class Gauge: Sendable {
  // relaxed throughout: the counts are only displayed; no other memory is read on account of them.
  private let files = Atomic<Int>(0)
  private let bytes = Atomic<Int>(0)
  private let nextDrawing: Atomic<UInt64>
  private let intervalNanoseconds: UInt64
  public let start: UInt64

  /// - Parameter intervalNanoseconds: the time between two drawings, in nanoseconds; nil for none.
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

  /// Adds to the counts. Returns true to one caller per interval, which must then draw.
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
