// Room: Pool/Pool+Width. How many CPUs the pool uses, read again while it runs.
// The smaller of two numbers, of which either may change at any time (Kernel/CPULimits):
//   the CPUs of the affinity mask    a system call of 0.3 µs; read once a millisecond at the most
//   the quota of the control groups  several files; read once a second at the most
// Both are read when a worker goes idle and at each look of the monitor; the mask also before a
// thread is made and when a loop of concurrentPerform begins. So a mask that is set before the
// first item, or before a loop, counts for it. With the mask changes whether waiting threads spin
// (Kernel/Spin), and how many threads there may be before any item sleeps.
import CLinux

extension Pool {
  private static var maskNanoseconds: UInt64 { 1_000_000 }
  private static var quotaNanoseconds: UInt64 { 1_000_000_000 }

  /// Reads the mask, and once a second all else that the width depends on.
  func refreshWidth() {
    guard let read = configuration.readWidth else { return }
    guard isDue(lastWidthRead, after: Self.quotaNanoseconds) else { return followMask() }
    let next = read()
    if let cpus = configuration.readMask?() {
      Spin.isAlone = cpus == 1
      // Where there are more CPUs in the mask, there is a quota.
      quotaWidth.store(next < cpus ? next : .max, ordering: .relaxed)
    }
    setWidth(next)
  }

  /// Reads the mask, unless that was done within the last millisecond.
  func followMask() {
    guard let read = configuration.readMask, isDue(lastMaskRead, after: Self.maskNanoseconds),
      let cpus = read()
    else { return }
    Spin.isAlone = cpus == 1
    setWidth(min(cpus, quotaWidth.load(ordering: .relaxed)))
  }

  /// Before any work: whether the width that the pool was made with is the mask's or a quota's.
  func beginWidth() {
    guard let cpus = configuration.readMask?() else { return }
    if configuration.width < cpus { quotaWidth.store(configuration.width, ordering: .relaxed) }
  }

  /// Whether the time has passed since the caller, or another thread, last had its turn; then it is
  /// the caller's.
  // relaxed: of two threads that find it due the exchange lets one through, which guards nothing.
  private func isDue(_ last: borrowing Atomic<UInt64>, after period: UInt64) -> Bool {
    let now = Clock.monotonicNanoseconds()
    let seen = last.load(ordering: .relaxed)
    // Signed: another thread may have read the clock later than this one.
    guard seen == 0 || Int64(bitPattern: now &- seen) > Int64(period) else { return false }
    return last.compareExchange(expected: seen, desired: now, ordering: .relaxed).exchanged
  }

  // relaxed: a thread that reads an old width or allowance leaves one thread too many or too few for a
  // moment.
  private func setWidth(_ next: Int) {
    let next = max(1, min(next, configuration.mostThreads))
    let previous = width.exchange(next, ordering: .relaxed)
    if next == previous { return }
    allowance.wrappingAdd(next - previous, ordering: .relaxed)
    let first = configuration.firstThreads(width: next)
    firstThreads.store(first, ordering: .relaxed)
    // Fewer than there may be, the monitor sees to.
    var seen = threadAllowance.load(ordering: .relaxed)
    while seen < first {
      let (won, now) = threadAllowance.weakCompareExchange(
        expected: seen, desired: first, ordering: .relaxed)
      if won { break }
      seen = now
    }
  }
}
