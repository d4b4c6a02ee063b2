// The control word of a board, which says what the program records, and the lease that ends the
// recording when its owner is killed.
// The lease is a time of the clock that events use. The owner measures the speed of the processor's
// counter while it records. The first lease assumes the fastest counter that exists, so it may last
// several times as long; the next ones, from 50 ms on, are exact. The first is no shorter than the
// others, because the start of a recorder takes seconds on a machine with much other load.
import CGrandCentralLinux
import GrandCentralCore

/// Keeps a program recording.
package struct Lease {
  private let board: BoardFile
  package let countsTicks = gc_counts_ticks()
  private let begin: (ticks: UInt64, time: UInt64)
  private var renewAt: UInt64 = 0

  /// How long the program records after its recorder was killed.
  private static var nanoseconds: UInt64 { 5_000_000_000 }
  private static var renewalNanoseconds: UInt64 { 1_000_000_000 }
  /// The clock's error over this time is small.
  private static var measuringNanoseconds: UInt64 { 50_000_000 }
  /// No processor counts faster.
  private static var maxTicksPerNanosecond: Double { 8 }

  package init(_ board: BoardFile) {
    self.board = board
    begin = (gc_ticks(countsTicks), gc_monotonic())
  }

  /// The time of an event now.
  package var now: UInt64 { gc_ticks(countsTicks) }

  /// How many ticks a nanosecond has; `nil`: it is not known yet.
  package var ticksPerNanosecond: Double? {
    guard countsTicks else { return 1 }
    let passed = gc_monotonic() &- begin.time
    guard passed >= Self.measuringNanoseconds else { return nil }
    return Double(gc_ticks(countsTicks) &- begin.ticks) / Double(passed)
  }

  /// Renews the lease if it is time. Call more often than five times a second.
  package mutating func renewIfDue() throws {
    if gc_monotonic() >= renewAt { try renew() }
  }

  /// Renews the lease. Returns after how many nanoseconds to do so again.
  @discardableResult
  package mutating func renew() throws -> UInt64 {
    let rate = ticksPerNanosecond
    let ticks = UInt64(Double(Self.nanoseconds) * (rate ?? Self.maxTicksPerNanosecond))
    try board.set(EventLayout.lease, now + ticks)
    // The first one as soon as the rate is known.
    let pause = rate == nil ? Self.measuringNanoseconds : Self.renewalNanoseconds
    renewAt = gc_monotonic() + pause
    return pause
  }

  // MARK: The control word

  /// The level at which another recorder records now; `nil`: none does.
  package var otherLevel: EventLevel? {
    let words = board.words(at: EventLayout.control * 8, count: 2)
    guard words.count == 2, let level = EventLayout.level(of: words[0]), level != .board,
      words[1] > now
    else { return nil }
    return level
  }

  /// Makes the program record.
  package mutating func begin(_ level: EventLevel) throws {
    try renew()
    try board.set(
      EventLayout.control, board.controlOfNewRecording(level, countsTicks: countsTicks))
  }

  /// Ends it.
  package func end() throws {
    try board.set(EventLayout.control, 0)
    try board.set(EventLayout.lease, UInt64.max)
  }
}

extension BoardFile {
  func set(_ index: Int, _ value: UInt64) throws {
    guard write(value, at: index * 8) else {
      throw InsideError("The board cannot be written: \(systemMessage()).")
    }
  }
}
