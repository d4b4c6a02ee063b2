// Stops the benchmark at a wrong result, so that no wrong workload becomes a row of a table.

import Glibc

/// Stops the whole benchmark when a workload's result is wrong.
public func expect(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if condition { return }
  fail("wrong result in \(file):\(line): \(message())")
}

/// Prints `message` to standard error and exits with code 70.
public func fail(_ message: String) -> Never {
  emit("bench: \(message)\n", to: 2)
  _exit(70)
}

/// Writes `text` completely and unbuffered.
public func emit(_ text: String, to descriptor: Int32 = 1) {
  var text = text
  text.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while let start = rest.baseAddress, rest.count > 0 {
      let written = write(descriptor, start, rest.count)
      if written < 0 && errno == EINTR { continue }
      if written <= 0 { return }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
    }
  }
}
