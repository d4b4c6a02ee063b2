// Room: Faults. The two ways in which the engine stops a process.
// A client's mistake and the engine's own are never mixed up, and both keep their message in release
// builds, which precondition() does not. The trap comes last, so the stack shows the caller.
import CLinux
import Primitives

/// The program did something that the contract of `Dispatch` forbids. `message` names the object, what
/// was done to it, and how to do it right.
@usableFromInline @inline(never)
func clientFault(_ message: String) -> Never {
  stop("BUG IN CLIENT OF GRAND CENTRAL: " + message)
}

/// An invariant of the engine does not hold.
@usableFromInline @inline(never)
func engineFault(_ message: String) -> Never {
  stop("BUG IN GRAND CENTRAL: " + message)
}

/// Stops with a client fault unless `condition` holds.
@inlinable @inline(__always)
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { clientFault(message()) }
}

/// Stops with an engine fault unless `condition` holds. Stays on in release builds.
@inlinable @inline(__always)
func invariant(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { engineFault(message()) }
}

private func stop(_ line: String) -> Never {
  report(line)
  gc_trap()
}

/// Writes one line to standard error, whole, without buffering.
func report(_ line: String) {
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
