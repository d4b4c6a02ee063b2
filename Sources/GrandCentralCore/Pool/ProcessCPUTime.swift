// Room: Pool/ProcessCPUTime. How much of the CPUs the process used lately.
// The kernel adds to the CPU time of a process when a thread loses its CPU, and in ticks of up to
// ten milliseconds while it keeps it. So a rate is taken over several ticks.

struct ProcessCPUTime {
  /// CPU time in nanoseconds for each second; `nil`: not known yet.
  private(set) var perSecond: UInt64?
  /// When the rate in the making began, by the monotonic clock, and the CPU time then.
  private var begin: (time: UInt64, used: UInt64) = (0, 0)

  static var windowNanoseconds: UInt64 { 40_000_000 }

  /// Notes the CPU time of the process until `now`.
  mutating func note(_ used: UInt64, at now: UInt64) {
    if begin.time == 0 { begin = (now, used) }
    let elapsed = now - begin.time
    guard elapsed >= Self.windowNanoseconds else { return }
    perSecond = (used - begin.used) * 1_000_000 / (elapsed / 1000)
    begin = (now, used)
  }
}
