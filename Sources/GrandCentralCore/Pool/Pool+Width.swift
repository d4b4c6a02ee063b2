// Room: Pool/Pool+Width. The number of CPUs that the pool uses, re-read while it runs. The width is
// the smaller of two numbers, each of which may change at any time (Platform/CPULimits):
//   the CPUs of the affinity mask    a system call of 0.3 µs; read at most once a millisecond
//   the quota of the control groups  several files; read at most once a second
// Both are read when a worker goes idle and at each look of the monitor; the mask also before a
// thread is made and when a loop of concurrentPerform begins. So a mask set before the first item,
// or before a loop, applies to it. A worker that goes idle reads the mask only if the last reading
// is 50 ms old: the call is cold then and takes 6 µs, a seventh of all that a single item costs.
// The mask also decides whether waiting threads spin (Platform/Spin), and how many threads may
// exist before any item sleeps.
// Each limit that depends on the width is computed where it is used, from the width and a word that
// only the monitor writes. A sum in one word would have two writers: a change of the width between
// the monitor's computation and its store would be lost, or counted twice, until the next look, and
// a resting monitor does not look.
import CGrandCentralLinux

extension Pool {
  // relaxed, all: limits are hints. A stale one makes one worker or thread too many or too
  // few for a moment.

  /// The maximum number of active workers now.
  @inline(__always)
  var allowance: Int {
    width.load(ordering: .relaxed) + beyondWidth.load(ordering: .relaxed)
  }

  /// How many more workers are active than allowed; at most 0: no more are.
  @inline(__always)
  var beyondAllowance: Int { state.load(ordering: .relaxed).active - allowance }

  /// The maximum number of threads before any item sleeps.
  @inline(__always)
  var firstThreads: Int { configuration.firstThreads(width: width.load(ordering: .relaxed)) }

  /// The maximum number of threads now.
  var threadAllowance: Int { max(firstThreads, raisedThreads.load(ordering: .relaxed)) }

  static var maskNanoseconds: UInt64 { 1_000_000 }
  static var idleMaskNanoseconds: UInt64 { 50_000_000 }
  static var quotaNanoseconds: UInt64 { 1_000_000_000 }

  /// Reads the mask, unless it was read in the last `period` nanoseconds, and once a second the
  /// quotas too.
  func refreshWidth(
    at now: UInt64 = Clock.monotonicNanoseconds(), maskNanoseconds period: UInt64 = maskNanoseconds
  ) {
    guard let read = configuration.readWidth else { return }
    guard isDue(lastWidthRead, at: now, after: Self.quotaNanoseconds) else {
      return followMask(at: now, after: period)
    }
    let next = read()
    if let cpus = configuration.readMask?() {
      Spin.isAlone = cpus == 1
      // A width below the mask is the quota's.
      quotaWidth.store(next < cpus ? next : .max, ordering: .relaxed)
    }
    setWidth(next)
  }

  /// Reads the mask, unless it was read in the last `period` nanoseconds.
  func followMask(
    at now: UInt64 = Clock.monotonicNanoseconds(), after period: UInt64 = maskNanoseconds
  ) {
    guard let read = configuration.readMask, isDue(lastMaskRead, at: now, after: period),
      let cpus = read()
    else { return }
    Spin.isAlone = cpus == 1
    var quota = quotaWidth.load(ordering: .relaxed)
    while true {
      setWidth(min(cpus, quota))
      // A new quota that this thread has not seen may already be in the width that it replaced. The
      // exchanges of the width order the two threads: the later one sees the quota of the earlier.
      let latest = quotaWidth.load(ordering: .relaxed)
      if latest == quota { return }
      quota = latest
    }
  }

  /// Notes whether the initial width is the mask's or a quota's. Called before any work.
  func beginWidth() {
    guard let cpus = configuration.readMask?() else { return }
    if configuration.width < cpus { quotaWidth.store(configuration.width, ordering: .relaxed) }
  }

  /// Whether `period` nanoseconds have passed since the last turn; then the caller takes a turn.
  // relaxed: if two threads find it due, the exchange admits one; it guards no data.
  private func isDue(_ last: borrowing Atomic<UInt64>, at now: UInt64, after period: UInt64) -> Bool
  {
    let seen = last.load(ordering: .relaxed)
    // Signed: another thread may have read the clock later than this one.
    guard seen == 0 || Int64(bitPattern: now &- seen) > Int64(period) else { return false }
    return last.compareExchange(expected: seen, desired: now, ordering: .relaxed).exchanged
  }

  private func setWidth(_ next: Int) {
    let next = max(1, min(next, configuration.maxThreads))
    // acquiringAndReleasing: for followMask(); see there.
    _ = width.exchange(next, ordering: .acquiringAndReleasing)
  }
}
