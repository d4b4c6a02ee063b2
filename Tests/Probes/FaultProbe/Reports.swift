import Glibc
import GrandCentralCore

/// Ends the process with a report that exceeds a pipe's buffer, so it takes several writes.
func longReport(_ words: [String]) {
  clientFault(String(repeating: "x", count: 300_000) + ".")
}

// SAFETY: only the handler below uses it, on the thread that traps.
nonisolated(unsafe) private var handled = 0

/// Ends the process with a report. With `handler`, a handler of its own ends it at the second trap.
func shortReport(_ words: [String]) {
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
