// A folder for one test, and operations on files without Foundation.
import Glibc

/// A new, empty folder. It and its contents are removed with the last reference.
public final class ScratchFolder: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/grandcentral-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: errno \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { removeTree(path) }

  public subscript(name: String) -> String { "\(path)/\(name)" }

  /// Opens a file; creates it if necessary.
  public func file(_ name: String, _ flags: Int32 = O_RDWR) -> Int32 {
    let descriptor = open(self[name], flags | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { fatalError("open \(self[name]): errno \(errno)") }
    return descriptor
  }

  /// Opens a folder; creates it if necessary.
  public func folder(_ name: String) -> Int32 {
    mkdir(self[name], 0o755)
    let descriptor = open(self[name], O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { fatalError("open \(self[name]): errno \(errno)") }
    return descriptor
  }
}

/// The names in a folder, without those of itself and its parent; `nil` if it cannot be read.
public func namesInFolder(_ path: String) -> [String]? {
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

/// Removes a file or a folder with its contents, as `rm -r` does.
public func removeTree(_ path: String) {
  guard let names = namesInFolder(path) else {
    unlink(path)
    return
  }
  for name in names {
    let inside = "\(path)/\(name)"
    if unlink(inside) != 0 { removeTree(inside) }
  }
  rmdir(path)
}
