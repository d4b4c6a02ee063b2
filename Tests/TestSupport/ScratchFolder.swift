// A folder for one test, and what can be done to files without Foundation.
import Glibc

/// A new, empty folder, which is removed with all that is in it when nobody holds it any more.
public final class ScratchFolder: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/grandcentral-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: errno \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { removeTree(path) }

  public subscript(name: String) -> String { "\(path)/\(name)" }

  /// Opens a file, which is made if it is not there.
  public func file(_ name: String, _ flags: Int32 = O_RDWR) -> Int32 {
    let descriptor = open(self[name], flags | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { fatalError("open \(self[name]): errno \(errno)") }
    return descriptor
  }

  /// Opens a folder, which is made if it is not there.
  public func folder(_ name: String) -> Int32 {
    mkdir(self[name], 0o755)
    let descriptor = open(self[name], O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { fatalError("open \(self[name]): errno \(errno)") }
    return descriptor
  }
}

/// As `rm -r` does it: what is inside first.
public func removeTree(_ path: String) {
  guard let folder = opendir(path) else {
    unlink(path)
    return
  }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  closedir(folder)
  for name in names {
    let inside = "\(path)/\(name)"
    if unlink(inside) != 0 { removeTree(inside) }
  }
  rmdir(path)
}
