// Room: ThreadPolicy/ClassEffects. The kernel settings of each class for the threads that run it,
// and why. Every setting can be taken and given back by an unprivileged thread, except the nice
// value (see EffectControls).
//
// Scheduling policy. Background and utility use SCHED_BATCH: a thread that wakes up does not
// preempt the running one, sched(7). SCHED_IDLE would suit background better, but an unprivileged
// thread cannot leave it.
// Slice. EEVDF (kernel 6.12) gives equal threads equal shares whatever their slices. A thread that
// asks for a shorter slice runs earlier, and at once when it wakes up. So the classes that a user
// waits for get a short slice. The others get a long one: every other thread interrupts them, and
// between interruptions they keep their caches warm.
//   The kernel's default is 0.7 ms on one CPU and up to 2.8 ms on eight. User-initiated gets
//   0.5 ms, shorter than any default, and user-interactive half of that. A slice of 0.1 ms, the
//   minimum, would be spent on switching.
//   The lowered classes get 6 ms and 4 ms, longer than any default. 20 ms would be too long: a
//   short item that wakes up beside busy threads waits for slices of theirs until its deadline is
//   the earliest. A program whose URLSession requests take many such items, beside a load of 36,
//   took five times as long with 20 ms as without classes.
//   A lowered class has a long slice only without a nice value. The kernel runs the earliest
//   deadline, and derives it from the slice divided by the thread's weight: 6 ms at nice +10 give a
//   deadline in 56 ms, and a thread that wakes up may wait that long behind a thread at nice 0 that
//   computes. With the kernel's default slice the two keep their shares, and the wait is 13 to
//   26 ms.
//   A prompt thread is a worker that is woken seldom, for one short item each time (PromptTurns).
//   From default up it has the slice of user-interactive, whatever its class. Beside 24 threads
//   that compute, the mean delay of its items fell from 2.7 to 0.4 ms; with 0.5 ms it fell to
//   2.2 ms. A worker that is woken often keeps the kernel's slice: it would interrupt the thread
//   that submits at each item. So does one that computes: it would only be interrupted more often.
// Nice value. Beside a thread at zero, a thread five steps up gets a third of that thread's CPU
// time, and ten steps up a ninth. No class runs above the program's own priority: that would be at
// the expense of other programs.
// Clamps. Background asks for at most half of a CPU's capacity. User-interactive asks for at least
// a quarter, so that short bursts do not run at the lowest speed.
// Disk. Levels of best-effort in the order of the classes, around 4, the level of threads that set
// none. The disk serves background when it has nothing else to do.
// Timer slack. For sleeps inside items. The default is 50 µs. 1 ms does not show in work whose
// progress is watched, nor 10 ms in work that no user waits for. The classes above default keep
// the default: its error is a three-hundredth of a frame.
// Leeway. For the engine's timers that run work of the class. Besides the timer's own leeway they
// may be late by a tenth or a twentieth of the time until they are due, up to a limit that users of
// such work do not notice.

struct ClassEffects: Equatable, Sendable {
  var isBatch = false
  /// `nil`: the kernel's default.
  var sliceNanoseconds: UInt64?
  /// Added to the program's nice value.
  var niceSteps: Int32 = 0
  /// In 1024ths of the capacity of the largest CPU; so is `maxUtilization`.
  var minUtilization: UInt32 = 0
  var maxUtilization: UInt32 = 1024
  /// `nil`: the program's.
  var diskPriority: IOPriority?
  /// `nil`: the program's.
  var timerSlackNanoseconds: UInt64?
  var leeway = TimerLeeway.none

  /// The slice to set on a thread, with the class's nice value or without; `nil`: the kernel's
  /// default.
  func sliceNanoseconds(isNice: Bool) -> UInt64? {
    isNice && niceSteps > 0 ? nil : sliceNanoseconds
  }

  /// No effects: how threads of the program run.
  static let none = ClassEffects()

  /// The effects of a class on a thread that may be prompt.
  static func of(_ band: Band, isPrompt: Bool) -> ClassEffects {
    var effects = of(band)
    if isPrompt && !effects.isBatch {
      effects.sliceNanoseconds = of(.userInteractive).sliceNanoseconds
    }
    return effects
  }

  static func of(_ band: Band) -> ClassEffects {
    switch band {
    case .background:
      ClassEffects(
        isBatch: true, sliceNanoseconds: 6_000_000, niceSteps: 10, maxUtilization: 512,
        diskPriority: .idle, timerSlackNanoseconds: 10_000_000,
        leeway: TimerLeeway(part: 10, maxNanoseconds: 1_000_000_000))
    case .utility:
      ClassEffects(
        isBatch: true, sliceNanoseconds: 4_000_000, niceSteps: 5,
        diskPriority: .bestEffort(6), timerSlackNanoseconds: 1_000_000,
        leeway: TimerLeeway(part: 20, maxNanoseconds: 100_000_000))
    case .default, .unspecified: .none
    case .userInitiated:
      ClassEffects(sliceNanoseconds: 500_000, diskPriority: .bestEffort(2))
    case .userInteractive:
      ClassEffects(sliceNanoseconds: 250_000, minUtilization: 256, diskPriority: .bestEffort(0))
    }
  }
}

/// How late timers of a class may be, besides their own leeway.
struct TimerLeeway: Equatable, Sendable {
  /// The divisor of the time until the timer is due; 0: no leeway.
  var part: UInt64
  var maxNanoseconds: UInt64

  static let none = TimerLeeway(part: 0, maxNanoseconds: 0)

  /// The leeway in nanoseconds for a timer that is due in `delay` nanoseconds, or repeats at that
  /// interval.
  func nanoseconds(after delay: UInt64) -> UInt64 {
    part == 0 ? 0 : min(delay / part, maxNanoseconds)
  }

  /// The leeway in nanoseconds for work that is submitted for later without a leeway of its own.
  /// Apple's engine allows a tenth of the delay, up to a minute. Not here: with many deadlines in a
  /// window, all of them wait for the window's end. And the toolchain's library, which programs on
  /// Linux were written with, fires at the deadline; so a program notices a tenth where its timeout
  /// or its pace is such work.
  static func nanosecondsForWork(in band: Band, after delay: UInt64) -> UInt64 {
    let isLowered = band == .background || band == .utility
    let least =
      isLowered
      ? TimerLeeway(part: 10, maxNanoseconds: 10_000_000)
      : TimerLeeway(part: 100, maxNanoseconds: 1_000_000)
    return max(
      least.nanoseconds(after: delay), ClassEffects.of(band).leeway.nanoseconds(after: delay))
  }
}

extension IOPriority {
  /// The priority of requests that the kernel runs by itself rather than on a thread of the engine.
  static func ofRequests(in band: Band) -> IOPriority {
    EffectControls.shared.has(.disk) ? ClassEffects.of(band).diskPriority ?? .unset : .unset
  }
}
