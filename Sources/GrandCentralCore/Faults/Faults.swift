// Room: Faults. The two ways in which the engine stops a process.
// A client's mistake and the engine's own are never mixed up. Both keep their message in release
// builds, unlike precondition(). The trap comes last, so the stack shows the caller.

/// Stops the process because the program broke the contract of `Dispatch`. `message` names the
/// object, the mistake, and the correct use.
@usableFromInline @inline(never)
package func clientFault(_ message: String) -> Never {
  stopProcess("BUG IN CLIENT OF GRAND CENTRAL: " + message)
}

/// Stops the process because an invariant of the engine does not hold.
@usableFromInline @inline(never)
package func engineFault(_ message: String) -> Never {
  stopProcess("BUG IN GRAND CENTRAL: " + message)
}

/// Stops with a client fault unless `condition` holds.
@inlinable @inline(__always)
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { clientFault(message()) }
}

/// Stops with an engine fault unless `condition` holds. Stays on in release builds.
@inlinable @inline(__always)
func invariant(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { engineFault(message()) }
}
