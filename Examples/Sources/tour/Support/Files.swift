// Files and folders by system calls. Nothing here knows of queues: the plain loop of the first
// chapter and its concurrent queues call the same functions.

import Glibc

/// The reason why something cannot be done, and what to do about it.
struct Failure: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Describes the system call that has just failed.
  static func system(_ what: String, _ advice: String) -> Failure {
    Failure("cannot \(what): \(String(cString: strerror(errno))). \(advice)")
  }

  static let readable = "Check that it is there and that you may read it."
  static let writable = "Check the free space, and that you may write there; TMPDIR names another."
}

/// The files and folders in a folder; of a file, the file itself. Symbolic links, devices and
/// hidden entries are left out.
struct Listing {
  var files: [String] = []
  var folders: [String] = []

  init(of folder: String) throws(Failure) {
    guard let stream = opendir(folder) else {
      if errno == ENOTDIR {
        files = [folder]
        return
      }
      throw .system("list the folder '\(folder)'", Failure.readable)
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(".") { continue }
      let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: folders.append(path)
      case S_IFREG: files.append(path)
      default: break
      }
    }
  }
}

/// The checksum of the cksum command, and the number of bytes.
struct Checksum: Hashable, Sendable {
  private var remainder: UInt32 = 0
  private(set) var bytes = 0

  /// The remainder of each byte in the division by the polynomial 0x04C11DB7.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte) << 24) { crc, _ in
      crc >> 31 == 1 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1
    }
  }

  /// The value that cksum prints: the length counts too, its lowest byte first.
  var value: UInt32 {
    var (crc, length) = (remainder, bytes)
    while length > 0 {
      crc = crc << 8 ^ Self.table[Int(crc >> 24) ^ length & 0xFF]
      length >>= 8
    }
    return ~crc
  }

  private mutating func add(_ piece: UnsafeRawBufferPointer) {
    let table = Self.table
    remainder = piece.reduce(remainder) { $0 << 8 ^ table[Int($0 >> 24) ^ Int($1)] }
    bytes += piece.count
  }

  init(of bytes: UnsafeRawBufferPointer) { add(bytes) }

  init(ofFile path: String) throws(Failure) {
    try readFile(path) { add($0) }
  }
}

/// Reads the file at `path` to its end, piece by piece. One descriptor is open meanwhile.
func readFile(_ path: String, _ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
  guard descriptor >= 0 else { throw .system("open '\(path)'", Failure.readable) }
  defer { close(descriptor) }
  var count = 0
  withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
    repeat {
      count = read(descriptor, buffer.baseAddress, buffer.count)
      body(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
    } while count > 0
  }
  if count < 0 { throw .system("read '\(path)'", Failure.readable) }
}

func absolutePath(_ path: String) throws(Failure) -> String {
  guard let real = realpath(path, nil) else {
    throw .system("find '\(path)'", "Name a folder, a file or a chapter; see 'tour --list'.")
  }
  defer { free(real) }
  return String(cString: real)
}

func makeTemporaryFolder() throws(Failure) -> String {
  let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var template = Array("\(parent)/tour-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else {
    throw .system("make a folder in '\(parent)'", Failure.writable)
  }
  return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Removes a folder and everything in it, also while a chapter still creates files there.
func removeFolder(_ folder: String) {
  for _ in 0..<100 {
    _ = try? Program.run("rm", "-rf", folder)
    if access(folder, F_OK) != 0 { return }
  }
}
