// Room: Primitives/Stop. Stops the process, and writes reports to standard error.
import CGrandCentralLinux

/// Writes `line` to standard error and traps, so that the stack still shows the caller. Where the
/// trap prints a backtrace, `line` stands before it and behind it.
public func stopProcess(_ line: String) -> Never {
  writeReport(line)
  (line + "\n").withCString(gc_repeat_after_backtrace)
  gc_trap()
}

/// Writes one line to standard error, in full and unbuffered.
public func writeReport(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while rest.count > 0 {
      let written = write(STDERR_FILENO, rest.baseAddress, rest.count)
      if written < 0 && errno == EINTR { continue }
      if written <= 0 { return }
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }
}
