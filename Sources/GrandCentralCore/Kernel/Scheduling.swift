// Room: Kernel/Scheduling. How the kernel shares the CPUs among threads: policy, slice, nice value and clamps of one
// thread, all in one call. sched_setattr(2), sched(7).
import CLinux

enum Scheduling {
  enum Policy {
    /// SCHED_OTHER, what threads have.
    static let other: UInt32 = 0
    /// SCHED_BATCH: does not preempt another thread when it wakes up.
    static let batch: UInt32 = 3
  }

  struct Attributes: Equatable, Sendable {
    var policy = Policy.other
    var nice: Int32 = 0
    /// How long the thread runs before another's turn; 0: as the kernel sees fit. A kernel before 6.12 ignores it, and
    /// answers 0.
    var sliceNanoseconds: UInt64 = 0
    /// Of the largest CPU, in 1024ths: the kernel picks CPU and frequency as if the thread used so much. `nil`: as it is.
    var clamps: ClosedRange<UInt32>?
    /// Whether threads and processes that it makes get none of this. Only with privilege is it taken back.
    var resetsOnFork = false
  }

  /// Of a thread of this process; 0: the calling one. An errno: EPERM or ENOSYS in a sandbox, ESRCH.
  static func attributes(of thread: UInt32) -> Result<Attributes, SystemError> {
    var raw = gc_scheduling()
    let error = gc_scheduling_get(thread, &raw)
    if error != 0 { return .failure(SystemError(number: error)) }
    let hasClamps = raw.most_utilization != 0 && raw.least_utilization <= raw.most_utilization
    return .success(
      Attributes(
        policy: raw.policy, nice: raw.nice, sliceNanoseconds: raw.slice_nanoseconds,
        clamps: hasClamps ? raw.least_utilization...raw.most_utilization : nil,
        resetsOnFork: raw.resets_on_fork))
  }

  /// Returns 0 or an errno. EPERM: a lower nice value than the process may set, or a sandbox.
  static func set(_ attributes: Attributes, of thread: UInt32) -> Int32 {
    var raw = gc_scheduling()
    raw.policy = attributes.policy
    raw.nice = attributes.nice
    raw.slice_nanoseconds = attributes.sliceNanoseconds
    raw.least_utilization = attributes.clamps?.lowerBound ?? 0
    raw.most_utilization = attributes.clamps?.upperBound ?? 0
    raw.resets_on_fork = attributes.resetsOnFork
    return gc_scheduling_set(thread, &raw, attributes.clamps != nil)
  }

  /// The lowest nice value that the process may set without privilege; 20: none. RLIMIT_NICE, getrlimit(2).
  static var niceFloor: Int32 { gc_nice_floor() }
}
