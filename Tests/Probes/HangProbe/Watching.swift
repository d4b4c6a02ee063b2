// The program looks at itself.
import Glibc
import GrandCentral

/// Looks at the process itself, in the way that the second argument names.
func lookAtItself(_ way: String?) {
  switch way {
  case nil: break
  // Prints what is stuck, each time.
  case "handler":
    DispatchSnapshot.whenStuck(for: .milliseconds(200)) { snapshot in
      printLine("stuck: " + snapshot.findings.map(\.headline).joined(separator: " | "))
    }
  // Cancels a handler before it can be called, and prints what another one gets.
  case "cancelled":
    let cancelled = DispatchSnapshot.whenStuck(for: .milliseconds(200)) { _ in
      printLine("a cancelled handler was called")
    }
    cancelled.cancel()
    cancelled.cancel()
    DispatchSnapshot.whenStuck(for: .milliseconds(400)) { _ in printLine("stuck") }
  // Cancels itself, and prints what is stuck later.
  case "in-handler":
    let own = Registration()
    own.handler = DispatchSnapshot.whenStuck(for: .milliseconds(200)) { _ in
      own.handler?.cancel()
      printLine("once")
      asleep.suspend()
      asleep.async {}
      DispatchSnapshot.whenStuck(for: .milliseconds(400)) { snapshot in
        printLine("then " + snapshot.findings.map(\.kind.rawValue).joined(separator: " "))
      }
    }
  default: exit(64)
  }
}

/// A registration that its own handler uses. Set before the handler can run.
final class Registration: @unchecked Sendable {
  var handler: DispatchSnapshot.StuckHandler?
}

func printLine(_ text: String) {
  let bytes = Array((text + "\n").utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}
