// Room: QoS/ClassEffects. What each class asks of the kernel for the thread that runs it: the
// table, and why. Only what an unprivileged thread can both take and give back, but for the nice
// value (see EffectControls).
//
// Scheduling policy. Background and utility are SCHED_BATCH: when such a thread wakes up it does
//   not preempt the one that runs, sched(7). Not SCHED_IDLE, which would suit background better: an
//   unprivileged thread that took it could not leave it.
// Slice. EEVDF (kernel 6.12) gives equal threads equal shares whatever their slices, but lets one
//   that asks for a shorter slice go first, and at once when it wakes up. So what a user waits for
//   gets a short one, and what nobody waits for a long one: it is interrupted by all others, and
//   between interruptions keeps its caches warm. The kernel's own is 0.7 ms on one CPU and up to
//   2.8 ms on eight, so half a millisecond is shorter than any, and user-interactive is again half
//   of that. It is no shorter because a slice of 0.1 ms, the least there is, would be spent on
//   switching. 6 ms and 4 ms for the lowered classes: longer than any of the kernel's own. 20 ms
//   would be too long: a short item of such a class that wakes up beside busy threads waits for
//   slices of theirs until its deadline is the earliest. A program whose URLSession requests take
//   many such items, beside a load of 36, took five times as long with 20 ms as without classes. A
//   lowered class has a long slice only where it has no nice value. The kernel divides a slice by
//   the thread's weight to find its deadline, and runs the earliest: 6 ms at nice +10 are a
//   deadline in 56 ms, and so long a thread that has just woken up may wait behind one that
//   computes at nice 0. With the kernel's own slice the two keep their shares, and it waits for 13
//   to 26 ms.
// Nice value. Five steps are a third of a CPU against a thread at zero, ten are a ninth. Nothing
//   is raised above what the program has: that would be at the expense of other programs.
// Clamps. Background does not make a CPU run faster than at half its speed, and user-interactive
//   finds it at a quarter at least, so that short bursts do not run at the lowest.
// Disk. Levels within best-effort as the classes are ordered, around 4, which is what threads
//   have that ask for nothing; background is served when the disk has nothing else to do.
// Timer slack. For sleeps inside items: 50 µs is what threads have. A millisecond is not seen in
//   work whose progress is watched, and ten not in work that nobody waits for. The classes above
//   default are left at 50 µs: an error of a three-hundredth of a frame is none.
// Leeway. For timers of the engine that run work of the class: besides what the timer itself
//   allows, a tenth or a twentieth of the time until it is due, up to a bound that users of such
//   work will not notice.

struct ClassEffects: Equatable, Sendable {
  var isBatch = false
  /// `nil`: the kernel's own.
  var sliceNanoseconds: UInt64?
  /// Added to the program's nice value.
  var niceSteps: Int32 = 0
  /// Of the largest CPU, in 1024ths.
  var leastUtilization: UInt32 = 0
  var mostUtilization: UInt32 = 1024
  /// `nil`: the program's.
  var diskPriority: IOPriority?
  /// `nil`: the program's.
  var timerSlackNanoseconds: UInt64?
  var leeway = TimerLeeway.none

  /// What a thread asks for that has the class's nice value, or has not; `nil`: the kernel's own.
  func sliceNanoseconds(isNice: Bool) -> UInt64? {
    isNice && niceSteps > 0 ? nil : sliceNanoseconds
  }

  /// Nothing: how threads of the program are.
  static let none = ClassEffects()

  static func of(_ band: Band) -> ClassEffects {
    switch band {
    case .background:
      ClassEffects(
        isBatch: true, sliceNanoseconds: 6_000_000, niceSteps: 10, mostUtilization: 512,
        diskPriority: .idle, timerSlackNanoseconds: 10_000_000,
        leeway: TimerLeeway(part: 10, mostNanoseconds: 1_000_000_000))
    case .utility:
      ClassEffects(
        isBatch: true, sliceNanoseconds: 4_000_000, niceSteps: 5,
        diskPriority: .bestEffort(6), timerSlackNanoseconds: 1_000_000,
        leeway: TimerLeeway(part: 20, mostNanoseconds: 100_000_000))
    case .default, .unspecified: .none
    case .userInitiated:
      ClassEffects(sliceNanoseconds: 500_000, diskPriority: .bestEffort(2))
    case .userInteractive:
      ClassEffects(sliceNanoseconds: 250_000, leastUtilization: 256, diskPriority: .bestEffort(0))
    }
  }
}

/// How late timers of a class may be, besides what they allow themselves.
struct TimerLeeway: Equatable, Sendable {
  /// One in so many nanoseconds of the time until the timer is due; 0: none.
  var part: UInt64
  var mostNanoseconds: UInt64

  static let none = TimerLeeway(part: 0, mostNanoseconds: 0)

  /// For a timer that is due in `delay`, or every `delay`; in nanoseconds.
  func nanoseconds(after delay: UInt64) -> UInt64 {
    part == 0 ? 0 : min(delay / part, mostNanoseconds)
  }
}

extension IOPriority {
  /// Of requests that the kernel does on their own, and not as a thread's.
  static func ofRequests(in band: Band) -> IOPriority {
    EffectControls.shared.has(.disk) ? ClassEffects.of(band).diskPriority ?? .unset : .unset
  }
}
