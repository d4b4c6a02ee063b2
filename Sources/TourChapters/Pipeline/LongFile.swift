// Purpose: makes a long file from the real files below a folder, concatenated and repeated up to
// the wanted length.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum LongFile {
  private static let pieceBytes = 1 << 20

  /// Writes `count` bytes to `file` from the readable files below `root`, or from the running
  /// program if there are none.
  /// - Returns: how many bytes were copied straight from files, and from how many files.
  static func make(
    _ file: Path, of count: Int, from root: Path
  ) -> Result<(bytes: Int, files: Int), FileFault> {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = file.withCString { open($0, flags, 0o600) }
    guard descriptor >= 0 else { return .failure(FileFault(path: file, code: errno)) }
    defer { close(descriptor) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 4096)
    defer { piece.deallocate() }
    let writer = Writer(descriptor: descriptor, count: count, piece: piece)
    var files = 0
    for path in sources(below: root) {
      if writer.isFull { break }
      let before = writer.place
      writer.append(path)
      files += writer.place > before ? 1 : 0
    }
    if writer.place == 0 {
      writer.append(Path("/proc/self/exe"))
      files = 1
    }
    let bytes = writer.place
    writer.repeatUntilFull()
    guard writer.isFull else { return .failure(FileFault(path: file, code: writer.error)) }
    return .success((bytes, files))
  }

  /// The files below `root`, in the order of discovery.
  private static func sources(below root: Path) -> some Sequence<Path> {
    var files = EntryKind(of: root) == .file ? [root] : []
    var folders = files.isEmpty ? [root] : []
    return sequence(state: ()) { _ in
      while files.isEmpty, let folder = folders.popLast() {
        guard let listing = try? FolderListing(of: folder) else { continue }
        files = listing.files
        folders += listing.folders
      }
      return files.popLast()
    }
  }
}

/// Appends to a file, up to a limit.
private final class Writer {
  private let descriptor: Int32
  private let count: Int
  private let piece: UnsafeMutableRawBufferPointer
  private(set) var place = 0
  /// The errno value of the failed write, EIO if it wrote nothing; 0 if no write failed.
  private(set) var error: Int32 = 0

  init(descriptor: Int32, count: Int, piece: UnsafeMutableRawBufferPointer) {
    self.descriptor = descriptor
    self.count = count
    self.piece = piece
  }

  var isFull: Bool { place == count }

  /// Appends a file, or the part that fits. Skips a file that cannot be read.
  func append(_ path: Path) {
    // O_NONBLOCK: the name may have passed to a FIFO or device since it was listed.
    let source = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard source >= 0 else { return }
    defer { close(source) }
    var offset = 0
    while case let got = appendPiece(of: source, at: offset), got > 0 { offset += got }
  }

  func repeatUntilFull() {
    var offset = 0
    while case let got = appendPiece(of: descriptor, at: offset), got > 0 { offset += got }
  }

  /// Appends one piece. Returns its length; 0 at the end, and if reading or writing fails.
  private func appendPiece(of source: Int32, at offset: Int) -> Int {
    let wanted = min(piece.count, count - place)
    if wanted == 0 || error != 0 { return 0 }
    let got = pread(source, piece.baseAddress, wanted, off_t(offset))
    if got <= 0 { return 0 }
    var rest = UnsafeRawBufferPointer(rebasing: piece[..<got])
    while !rest.isEmpty {
      let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(place))
      guard written > 0 else {
        error = written < 0 ? errno : EIO
        return 0
      }
      place += written
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
    return got
  }
}
