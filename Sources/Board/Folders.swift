// What folders and links say, as those of /proc do: the process may end at any time, and then they
// are gone.

/// The names in a folder, in any order; `nil`: errno says why.
package func namesInFolder(_ path: String) -> [String]? {
  guard let folder = opendir(path) else { return nil }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}

/// What a symbolic link names, up to 512 bytes of it; empty if it cannot be read.
package func linkTarget(_ path: String) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
    let length = readlink(path, buffer.baseAddress.unsafelyUnwrapped, buffer.count)
    return String(
      decoding: UnsafeRawBufferPointer(buffer).prefix(max(0, length)), as: UTF8.self)
  }
}
