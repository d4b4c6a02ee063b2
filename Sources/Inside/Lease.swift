// The control word of a board, which says what the program records, and the lease that ends the
// recording when its owner is killed: nothing else would clear the control word.
// The lease is a time of the clock that events use. The owner measures the speed of the processor's
// counter while it records. The first lease assumes the fastest counter that exists, so it may last
// several times as long; the next ones, from 50 ms on, are exact. The first is no shorter than the
// others, because the start of a recorder takes seconds on a machine with much other load.
import CGrandCentralLinux
import Glibc
import GrandCentralCore

/// Keeps a program recording.
package struct Lease {
  private let board: BoardFile
  private let countsTicks = gc_counts_ticks()
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

  /// Renews the lease if it is time, and returns whether it was. Call more often than five times a
  /// second.
  @discardableResult
  package mutating func renewIfDue() throws -> Bool {
    guard gc_monotonic() >= renewAt else { return false }
    try renew()
    return true
  }

  private mutating func renew() throws {
    let rate = ticksPerNanosecond
    let ticks = UInt64(Double(Self.nanoseconds) * (rate ?? Self.maxTicksPerNanosecond))
    try board.set(EventLayout.lease, now + ticks)
    // The first one as soon as the rate is known.
    let pause = rate == nil ? Self.measuringNanoseconds : Self.renewalNanoseconds
    renewAt = gc_monotonic() + pause
  }

  // MARK: The control word

  /// The level at which the program records now, for another recorder or since its start; `nil`: it
  /// does not.
  package var otherLevel: EventLevel? {
    let words = control
    guard let level = EventLayout.level(of: words.level), level != .board, words.end > now
    else { return nil }
    return level
  }

  /// Whether another recorder records now. The lease of a program that GRANDCENTRAL_RECORD made
  /// record has no end, and no recorder.
  package var hasOtherRecorder: Bool { otherLevel != nil && control.end != UInt64.max }

  /// The control word and the lease; zeros if the board has no room for them.
  private var control: (level: UInt64, end: UInt64) {
    let words = board.words(at: EventLayout.control * 8, count: 2)
    return words.count == 2 ? (words[0], words[1]) : (0, 0)
  }

  /// Makes the program record.
  package mutating func begin(_ level: EventLevel) throws {
    try renew()
    try board.set(EventLayout.control, controlOfNewRecording(level))
  }

  /// Counts another recording, and returns its control word.
  private func controlOfNewRecording(_ level: EventLevel) -> UInt64 {
    let counted = board.words(at: EventLayout.recordings * 8, count: 1).first ?? 0
    // A recording without a number of its own shows less of an earlier one's names.
    _ = board.write(counted &+ 1, at: EventLayout.recordings * 8)
    return EventLayout.control(level, countsTicks: countsTicks)
      | (counted &+ 1) << EventLayout.recordingShift
  }

  /// Ends it, and renews no more.
  package mutating func end() throws {
    renewAt = .max
    try board.set(EventLayout.control, 0)
    try board.set(EventLayout.lease, UInt64.max)
  }
}

extension BoardFile {
  fileprivate func set(_ index: Int, _ value: UInt64) throws {
    guard write(value, at: index * 8) else {
      throw InsideError("The board cannot be written: \(systemMessage()).")
    }
  }

  /// Writes a word of the header. False: errno says why.
  fileprivate func write(_ word: UInt64, at offset: Int) -> Bool {
    var word = word
    return pwrite(descriptor, &word, 8, off_t(offset)) == 8
  }
}
