// Reads files that the command's user names or that a recording names, and writes the command's
// own. A file to read may be a pipe, which would keep its reader waiting: it is an empty one.
import Glibc

/// Opens a file to read; -1: errno says why.
func openToRead(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

/// Reads a regular file; `nil`: errno says why.
package func readBytes(_ path: String) -> [UInt8]? {
  let descriptor = openToRead(path)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { return nil }
  guard status.st_mode & S_IFMT == S_IFREG else {
    errno = EINVAL
    return nil
  }
  return readBytes(of: descriptor, at: 0, count: max(0, Int(status.st_size)))
}

/// Returns bytes at an offset; fewer than `count` at the end of the file.
func readBytes(of descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    filled = fill(UnsafeMutableRawBufferPointer(buffer), from: descriptor, at: offset)
  }
}

/// Reads bytes at an offset. Returns how many: fewer than there is room for at the end of the file.
func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Int {
  var filled = 0
  while filled < buffer.count {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
    let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { break }
    filled += count
  }
  return filled
}

/// Writes all bytes; false: errno says why.
package func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if written < 0 && errno == EINTR { continue }
    if written <= 0 { return false }
    rest = rest.dropFirst(written)
  }
  return true
}

/// What errno says.
func systemMessage() -> String { String(cString: strerror(errno)) }
