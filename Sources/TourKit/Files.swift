// Purpose: the file system operations of the job, equal for every engine: list a folder, checksum a
// file. A descriptor is open only inside these two functions.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file or folder that could not be read, with the errno value.
public struct FileFault: Error, Hashable, Sendable {
  public let path: Path
  public let code: Int32

  public init(path: Path, code: Int32) {
    self.path = path
    self.code = code
  }

  /// The system's description of the error.
  public var reason: String { String(cString: strerror(code)) }
}

/// The contents of a folder.
public struct FolderListing: Sendable {
  public var folders: [Path] = []
  public var files: [Path] = []
  /// The number of symbolic links, sockets and devices, which are never opened.
  public var others = 0
  /// The symbolic links among `others`.
  public var links: [Path] = []

  /// Lists `folder`, without following symbolic links.
  public init(of folder: Path) throws(FileFault) {
    guard let stream = folder.withCString({ opendir($0) }) else {
      throw FileFault(path: folder, code: errno)
    }
    defer { closedir(stream) }
    while true {
      errno = 0  // readdir(3): only errno distinguishes the end from an error.
      guard let entry = readdir(stream) else { break }
      let type = Int32(entry.pointee.d_type)
      let name = (UnsafeRawPointer(entry) + Self.nameOffset).assumingMemoryBound(to: UInt8.self)
      add(name, type: type, in: folder)
    }
    if errno != 0 { throw FileFault(path: folder, code: errno) }
  }

  private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name)!

  private mutating func add(_ name: UnsafePointer<UInt8>, type: Int32, in folder: Path) {
    let count = strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
    let dot = UInt8(ascii: ".")
    if name[0] == dot && (count == 1 || count == 2 && name[1] == dot) { return }
    let path = folder.appending(name: name, count: count)
    // Some file systems do not report the type in readdir(3).
    let kind = type == Int32(DT_UNKNOWN) ? EntryKind(of: path) : EntryKind(direntType: type)
    switch kind {
    case .folder: folders.append(path)
    case .file: files.append(path)
    case .link:
      links.append(path)
      others += 1
    case .other: others += 1
    }
  }
}

/// The type of a file.
public enum EntryKind: Sendable {
  case file, folder, link, other

  init(direntType: Int32) {
    switch direntType {
    case Int32(DT_DIR): self = .folder
    case Int32(DT_REG): self = .file
    case Int32(DT_LNK): self = .link
    default: self = .other
    }
  }

  /// The type of the file at `path`. A symbolic link is `.link`, unless `following` resolves it.
  public init(of path: Path, following: Bool = false) {
    var status = stat()
    let result = path.withCString { following ? stat($0, &status) : lstat($0, &status) }
    switch result == 0 ? status.st_mode & S_IFMT : 0 {
    case S_IFDIR: self = .folder
    case S_IFREG: self = .file
    case S_IFLNK: self = .link
    default: self = .other
    }
  }
}

/// The result of checksumming a file.
public enum FileOutcome: Sendable {
  case done(checksum: UInt32, count: UInt64)
  case stopped
  case failed(FileFault)
}

/// Checksums the file at `path`, one piece at a time.
/// - Parameter afterPiece: called with the length of each piece; returns false to stop.
public func checksumFile(_ path: Path, afterPiece: (Int) -> Bool) -> FileOutcome {
  // Flags: the name may have passed to a symbolic link or FIFO since it was listed.
  let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
  let descriptor = path.withCString { open($0, flags) }
  guard descriptor >= 0 else { return .failed(FileFault(path: path, code: errno)) }
  defer { close(descriptor) }
  return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
    var checksum = PosixChecksum()
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count == 0 { return .done(checksum: checksum.value, count: checksum.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return .failed(FileFault(path: path, code: errno))
      }
      checksum.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      if !afterPiece(count) { return .stopped }
    }
  }
}
