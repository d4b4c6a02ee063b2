// Room: Platform/WholeFiles. Reads files whose length is not known before: those of /proc and of
// control groups. A read may return less than there is, so each function reads until nothing comes
// or until there is no more room. Callers of other modules read text by the same functions.

/// Reads a whole text file, as long as it is: a host has thousands of mounts. `nil`: errno says
/// why.
package func readText(_ path: String) -> String? {
  let descriptor = Process.openToRead(path)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  return readToEnd(descriptor)
}

/// Reads text from the position of a descriptor to the end; `nil`: errno says why.
package func readToEnd(_ descriptor: Int32) -> String? {
  var bytes: [UInt8] = []
  return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
    while let filled = fill(buffer, from: descriptor) {
      bytes.append(contentsOf: buffer[..<filled])
      if filled < buffer.count { return String(decoding: bytes, as: UTF8.self) }
    }
    return nil
  }
}

/// Reads until the buffer is full or the file ends. Returns how many bytes; `nil`: errno says why.
private func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int? {
  var filled = 0
  while filled < buffer.count {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
    let count = read(descriptor, rest.baseAddress, rest.count)
    if count < 0 && errno == EINTR { continue }
    if count < 0 { return nil }
    if count == 0 { break }
    filled += count
  }
  return filled
}

extension Process {
  /// Opens a file for reading. Returns a descriptor, or -1 with errno set.
  static func openToRead(_ path: String) -> Int32 {
    var descriptor: Int32
    repeat { descriptor = open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
    return descriptor
  }

  /// Reads all of a /proc file from its start. Its readiness does not report what has been read.
  static func readText(from descriptor: Int32) -> String? {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
    return readToEnd(descriptor)
  }

  /// Reads the first `atMost` bytes of a file; `nil` if it cannot be read.
  static func readText(_ path: String, atMost limit: Int) -> String? {
    withBytes(of: path, atMost: limit) { String(decoding: $0, as: UTF8.self) }
  }

  /// Passes the first `atMost` bytes of a file to `body`; `nil` if it cannot be read.
  static func withBytes<Result>(
    of path: String, atMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Result?
  ) -> Result? {
    let descriptor = openToRead(path)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
      fill(buffer, from: descriptor).flatMap {
        body(UnsafeRawBufferPointer(rebasing: buffer[..<$0]))
      }
    }
  }
}
