import Glibc
import GrandCentralCore

/// Ends the process with a report that exceeds a pipe's buffer, so it takes several writes.
func longReport(_ words: [String]) {
  clientFault(String(repeating: "x", count: 300_000) + ".")
}

// SAFETY: only the handler below uses it, on the thread that traps.
nonisolated(unsafe) private var handled = 0

/// Ends the process with a report. With `handler`, a handler of its own ends it at the second trap.
/// With `unread`, the report goes to a pipe whose reader leaves while a handler like the runtime's
/// runs.
func shortReport(_ words: [String]) {
  if words == ["unread"] {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0, dup2(ends[0], STDIN_FILENO) >= 0
    else { exit(1) }
    close(ends[0])
    close(ends[1])
    for number in [SIGILL, SIGTRAP] {
      signal(number) { number in
        close(STDIN_FILENO)
        signal(number, SIG_DFL)
      }
    }
  }
  if words == ["handler"] {
    for number in [SIGILL, SIGTRAP] {
      signal(number) { _ in
        handled += 1
        _ = write(STDERR_FILENO, "handled\n", 8)
        if handled == 2 { _exit(3) }
      }
    }
  }
  clientFault("Too many resumes.")
}
