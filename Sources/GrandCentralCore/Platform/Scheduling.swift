// Room: Platform/Scheduling. How the kernel shares CPUs among threads: a thread's policy, slice,
// nice value and clamps, in one call. sched_setattr(2), sched(7).
import CGrandCentralLinux

enum Scheduling {
  enum Policy {
    /// SCHED_OTHER, the default of threads.
    static let other: UInt32 = 0
    /// SCHED_BATCH: does not preempt another thread when it wakes up.
    static let batch: UInt32 = 3
  }

  struct Attributes: Equatable, Sendable {
    var policy = Policy.other
    var nice: Int32 = 0
    /// The time a thread runs before another's turn; 0: the kernel's choice. A kernel before 6.12
    /// ignores it, and reads 0.
    var sliceNanoseconds: UInt64 = 0
    /// The kernel picks CPU and frequency as if the thread's use of the largest CPU, in 1024ths,
    /// were in this range; `nil`: unchanged.
    var clamps: ClosedRange<UInt32>?
    /// Whether its new threads and processes inherit none of this. Clearing it needs privilege.
    var resetsOnFork = false
  }

  /// Reads the attributes of a thread of this process; 0: the calling thread. Fails with an errno:
  /// EPERM or ENOSYS in a sandbox, ESRCH.
  static func attributes(of thread: UInt32) -> Result<Attributes, SystemError> {
    var raw = gc_scheduling()
    let error = gc_scheduling_get(thread, &raw)
    if error != 0 { return .failure(SystemError(number: error)) }
    let hasClamps = raw.max_utilization != 0 && raw.min_utilization <= raw.max_utilization
    return .success(
      Attributes(
        policy: raw.policy, nice: raw.nice, sliceNanoseconds: raw.slice_nanoseconds,
        clamps: hasClamps ? raw.min_utilization...raw.max_utilization : nil,
        resetsOnFork: raw.resets_on_fork))
  }

  /// Sets the attributes of a thread. Returns 0 or an errno; EPERM: a lower nice value than the
  /// process may set, or a sandbox.
  static func set(_ attributes: Attributes, of thread: UInt32) -> Int32 {
    var raw = gc_scheduling()
    raw.policy = attributes.policy
    raw.nice = attributes.nice
    raw.slice_nanoseconds = attributes.sliceNanoseconds
    raw.min_utilization = attributes.clamps?.lowerBound ?? 0
    raw.max_utilization = attributes.clamps?.upperBound ?? 0
    raw.resets_on_fork = attributes.resetsOnFork
    return gc_scheduling_set(thread, &raw, attributes.clamps != nil)
  }

  /// The lowest nice value without privilege; 20: none. RLIMIT_NICE, getrlimit(2).
  static var niceFloor: Int32 { gc_nice_floor() }
}
