// Room: Kernel/TimerSlack. How much later than due the kernel may wake a thread from a sleep with a time, so that one
// interrupt serves several. PR_SET_TIMERSLACK, prctl(2).
// Of the calling thread alone: another's, by /proc/PID/timerslack_ns, takes CAP_SYS_NICE even within a process.
import CLinux

enum TimerSlack {
  /// In nanoseconds.
  static var own: Result<UInt64, SystemError> {
    let value = gc_timer_slack_get()
    return value < 0
      ? .failure(SystemError(number: Int32(-value))) : .success(UInt64(value))
  }

  /// Returns 0 or an errno. `nil`: what the thread began with, which is what the thread that made it had then.
  static func set(_ nanoseconds: UInt64?) -> Int32 { gc_timer_slack_set(nanoseconds ?? 0) }
}
