// Purpose: reads the beginning of a small file as text.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Returns the first `maxBytes` bytes of `file` as text; empty if it cannot be read.
func textOf(_ file: Path, maxBytes: Int = 16 << 10) -> String {
  let descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC) }
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: maxBytes)
  let count = bytes.withUnsafeMutableBytes { LoopbackSocket.receiveAll(descriptor, $0) }
  return String(decoding: bytes.prefix(count), as: UTF8.self)
}
