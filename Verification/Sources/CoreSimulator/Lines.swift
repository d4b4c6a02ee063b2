// Room: CoreSimulator/Lines. Which cores have which cache lines. A line is in one core that may
// write it, or in several that only read it. A line that a core has written moves to one other core
// at a time: the others wait in a queue, and that is what bends curves. A core that has waited for
// a line to write it keeps it for as long as the next core's request takes to arrive; so a thread
// that looks at a word and exchanges it at once does both on one move. Lines never leave a cache
// for lack of space.

struct Lines {
  enum Access { case load, store, update }

  struct Line {
    /// One bit for each core that has the line.
    var holders: UInt64 = 0
    /// Whether its only holder may write it.
    var isExclusive = false
    /// When the last transfer ends.
    var freeAt: UInt64 = 0
    /// Until when a core may use the line although it has been promised to others.
    var keptUntil: [Int: UInt64] = [:]
  }

  /// What an access costs.
  struct Bill {
    var nanoseconds: UInt64
    var queued: UInt64 = 0
    var isTransfer = false
  }

  private var lines: [UInt: Line] = [:]

  mutating func access(
    _ address: UnsafeRawPointer, _ access: Access, by core: Int, at now: UInt64, _ costs: Costs
  ) -> Bill {
    let bit: UInt64 = 1 << UInt64(core)
    let own = access == .update ? costs.update : costs.hit
    return withLine(UInt(bitPattern: address) >> 6) { line in
      let isHolder = line.holders & bit != 0
      if line.holders == 0 || isHolder && (line.isExclusive || access == .load) {
        // Its own, or memory that no core has used: from an allocator, which prefetches.
        if line.holders == 0 || access != .load { line.isExclusive = true }
        line.holders |= bit
        return Bill(nanoseconds: own)
      }
      if let end = line.keptUntil[core], now <= end { return Bill(nanoseconds: own) }
      if access == .load && !line.isExclusive {
        line.holders |= bit
        return Bill(nanoseconds: own + costs.share, isTransfer: true)
      }
      let begin = max(now, line.freeAt)
      line.freeAt = begin + costs.transfer
      line.holders = access == .load ? line.holders | bit : bit
      line.isExclusive = access != .load
      // A copy that was only read is worth nothing for an exchange.
      line.keptUntil[core] = access == .load ? nil : line.freeAt + own + costs.kept
      return Bill(
        nanoseconds: begin - now + costs.transfer + own, queued: begin - now, isTransfer: true)
    }
  }

  private mutating func withLine(_ number: UInt, _ body: (inout Line) -> Bill) -> Bill {
    body(&lines[number, default: Line()])
  }
}
