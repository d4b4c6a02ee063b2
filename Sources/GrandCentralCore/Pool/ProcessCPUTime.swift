// Room: Pool/ProcessCPUTime. How much of the CPUs the process uses while it has enough work.
// Only the time between two looks counts that both find as many workers busy as the width: in
// pauses of the program it uses less, whatever others do. The kernel adds to the CPU time of a
// process when a thread loses its CPU, and in ticks of up to ten milliseconds while it keeps it. So
// a rate is taken over several ticks. Where a CPU has no ticks, the times of the workers' own
// threads, which are exact, show more.

struct ProcessCPUTime {
  /// CPU time in nanoseconds for each second; `nil`: not known yet.
  private(set) var perSecond: UInt64?
  /// Sums for the next rate: the time that counts, the CPU time of the process in it, and of the
  /// workers.
  private var time: UInt64 = 0
  private var used: UInt64 = 0
  private var usedByWorkers: UInt64 = 0
  /// The last look, if it found enough workers busy.
  private var last: (now: UInt64, used: UInt64)?

  static var windowNanoseconds: UInt64 { 40_000_000 }

  /// Notes a look: the CPU time of the process until `now`, and that of the workers since the look
  /// before. `isBusy`: whether it found as many workers busy as the width.
  mutating func note(_ processUsed: UInt64, byWorkers: UInt64, isBusy: Bool, at now: UInt64) {
    defer { last = isBusy ? (now, processUsed) : nil }
    // A process that stood still for long used nothing, and the clock of a restored one may be
    // behind.
    guard isBusy, let last, now >= last.now, processUsed >= last.used,
      now - last.now < Self.windowNanoseconds
    else { return }
    time += now - last.now
    used += processUsed - last.used
    usedByWorkers += byWorkers
    guard time >= Self.windowNanoseconds else { return }
    perSecond = max(used, usedByWorkers) * 1_000_000 / (time / 1000)
    (time, used, usedByWorkers) = (0, 0, 0)
  }
}
