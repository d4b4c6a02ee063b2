// A workload that computed the wrong thing must not become a row in a table.

import Glibc

/// Stops the whole benchmark when a workload's result is wrong.
public func expect(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if condition { return }
  fail("wrong result in \(file):\(line): \(message())")
}

/// Says `message` on standard error and leaves.
public func fail(_ message: String) -> Never {
  emit("bench: \(message)\n", to: 2)
  _exit(70)
}

/// Writes `text` whole and unbuffered.
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
