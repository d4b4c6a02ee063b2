// Room: Platform/TimerSlack. How late the kernel may wake a thread from a timed sleep, so that one
// interrupt serves several. PR_SET_TIMERSLACK, prctl(2).
// Only for the calling thread: another thread's slack, /proc/PID/timerslack_ns, needs CAP_SYS_NICE
// even within the process.
import CGrandCentralLinux

enum TimerSlack {
  /// The calling thread's slack, in nanoseconds.
  static var own: Result<UInt64, SystemError> {
    let value = gc_timer_slack_get()
    return value < 0
      ? .failure(SystemError(number: Int32(-value))) : .success(UInt64(value))
  }

  /// Sets the calling thread's slack. `nil`: the thread's initial value, inherited from its maker.
  /// Returns 0 or an errno.
  static func set(_ nanoseconds: UInt64?) -> Int32 { gc_timer_slack_set(nanoseconds ?? 0) }
}
