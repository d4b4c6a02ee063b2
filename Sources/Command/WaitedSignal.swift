// The signals that the command waits for while a program of its own runs. They are blocked, and
// have no handlers.
import Glibc
import GrandCentralInside

/// A signal that was taken, or 0.
struct WaitedSignal {
  let number: Int32
  /// Whether a process sent it. siginfo(7): a code above 0 is the kernel's.
  let isSent: Bool

  /// Sends the signal to the program too, if a process sent it. One of the terminal reaches the
  /// program from the kernel: both are in its foreground process group.
  func forward(to program: StartedProgram) {
    if number > 0, number != SIGCHLD, isSent { kill(pid_t(program.process), number) }
  }
}

/// Waits until one of the signals comes or the time is over.
func waitForSignal(_ signals: sigset_t, nanoseconds: UInt64) -> WaitedSignal {
  var timeout = timespec(
    tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  var information = siginfo_t()
  var signals = signals
  let number = sigtimedwait(&signals, &information, &timeout)
  return WaitedSignal(number: max(0, number), isSent: information.si_code <= 0)
}
