// Ends a workload that hangs, with its name.

import Glibc
import Metrics

enum Watchdog {
  /// The message for the signal handler, which may only use allocated memory.
  nonisolated(unsafe) private static var message = UnsafeMutableBufferPointer<UInt8>
    .allocate(capacity: 0)

  /// Runs `body`. Ends the process with a message if it does not return within `seconds`.
  static func within<Value>(seconds: UInt32, _ what: String, _ body: () -> Value) -> Value {
    let text = Array("bench: \(what) did not finish within \(seconds) s\n".utf8)
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
    _ = bytes.initialize(from: text)
    message = bytes
    signal(SIGALRM) { _ in
      _ = write(2, Watchdog.message.baseAddress, Watchdog.message.count)
      _exit(75)
    }
    alarm(seconds)
    defer {
      alarm(0)
      bytes.deallocate()
    }
    return body()
  }
}
