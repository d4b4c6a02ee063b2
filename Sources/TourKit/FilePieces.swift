// Purpose: pieces of real files, a few kilobytes each, that are checksummed repeatedly: work of any
// length with a known result.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A range of a file's bytes and its checksum.
public struct FilePiece: Sendable {
  public let path: Path
  public let offset: Int
  public let count: Int
  public let checksum: UInt32

  /// Reads the piece; nil if the file cannot be read or is too short.
  init?(of path: Path, offset: Int, count: Int) {
    guard let checksum = Self.checksum(path, offset, count) else { return nil }
    self.path = path
    self.offset = offset
    self.count = count
    self.checksum = checksum
  }

  /// Reads the piece again. Returns false if its checksum changed.
  public func isSame() -> Bool { Self.checksum(path, offset, count) == checksum }

  private static func checksum(_ path: Path, _ offset: Int, _ count: Int) -> UInt32? {
    // O_NONBLOCK: the name may have passed to a FIFO or device since it was listed.
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
      guard pread(descriptor, buffer.baseAddress, count, off_t(offset)) == count else { return nil }
      var checksum = PosixChecksum()
      checksum.update(UnsafeRawBufferPointer(buffer))
      return checksum.value
    }
  }
}

public struct FilePieces: Sendable {
  public let pieces: [FilePiece]
  /// The number of files that the pieces are from.
  public let files: Int

  public static let maxBytes = 16 << 10
  private static let maxPieces = 1000
  private static let maxOfOneFile = 64
  private static let maxFolders = 2000

  /// Finds up to a thousand pieces of the files below `root`, in the order of their paths; pieces
  /// of the running program if there is no file.
  public init(below root: Path) {
    var found: [FilePiece] = []
    var files = 0
    func add(_ file: Path) {
      let before = found.count
      while found.count < min(before + Self.maxOfOneFile, Self.maxPieces) {
        let offset = (found.count - before) * Self.maxBytes
        guard let bytes = Self.length(of: file).map({ $0 - offset }), bytes > 0,
          let piece = FilePiece(of: file, offset: offset, count: min(bytes, Self.maxBytes))
        else { break }
        found.append(piece)
      }
      if found.count > before { files += 1 }
    }
    if EntryKind(of: root) == .file { add(root) }
    var folders = [root]
    var next = 0
    while next < min(folders.count, Self.maxFolders), found.count < Self.maxPieces {
      if let listing = try? FolderListing(of: folders[next]) {
        for file in listing.files.sorted() { add(file) }
        folders += listing.folders.sorted()
      }
      next += 1
    }
    if found.isEmpty { add(Path("/proc/self/exe")) }
    pieces = found
    self.files = files
  }

  private static func length(of file: Path) -> Int? {
    var status = stat()
    return file.withCString { stat($0, &status) } == 0 ? Int(status.st_size) : nil
  }

  /// The checksum of all pieces' checksums.
  public var digest: UInt32 {
    PosixChecksum.of(
      pieces.flatMap { piece in withUnsafeBytes(of: piece.checksum.bigEndian) { Array($0) } })
  }

  /// Checksums pieces from number `first` on, cyclically, until the calling thread has used
  /// `processorMilliseconds` of processor time. Checksums at least one piece.
  public func scan(from first: Int, processorMilliseconds: Int) -> ScanResult {
    var result = ScanResult()
    let end = Machine.threadNanoseconds + UInt64(processorMilliseconds) * 1_000_000
    repeat {
      let piece = pieces[(first + result.pieces) % pieces.count]
      if !piece.isSame() { result.changed += 1 }
      result.pieces += 1
      result.bytes += piece.count
    } while Machine.threadNanoseconds < end
    return result
  }
}

public struct ScanResult: Sendable {
  public var pieces = 0
  public var bytes = 0
  /// The number of pieces whose checksum changed.
  public var changed = 0

  public init() {}

  public static func + (one: ScanResult, other: ScanResult) -> ScanResult {
    var sum = one
    sum.pieces += other.pieces
    sum.bytes += other.bytes
    sum.changed += other.changed
    return sum
  }
}
