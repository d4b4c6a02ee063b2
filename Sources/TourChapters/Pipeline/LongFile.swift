// Purpose: a long file made of real ones: those below a folder, one after the other, and again from
// the front until it is as long as it is to be.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum LongFile {
  private static let pieceBytes = 1 << 20

  /// Makes `file` of `count` bytes out of what can be read below `root`; of the running program
  /// where that is nothing.
  /// - Returns: how many of its bytes came straight from files, and from how many.
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

  /// Files, as they are come upon.
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

/// Writes at a place that only goes forward, up to its limit.
private final class Writer {
  private let descriptor: Int32
  private let count: Int
  private let piece: UnsafeMutableRawBufferPointer
  private(set) var place = 0
  /// Why it went no further.
  private(set) var error: Int32 = 0

  init(descriptor: Int32, count: Int, piece: UnsafeMutableRawBufferPointer) {
    self.descriptor = descriptor
    self.count = count
    self.piece = piece
  }

  var isFull: Bool { place == count }

  /// All of a file, or what there is room for. One that cannot be read is left out.
  func append(_ path: Path) {
    // Not blocking: something else may have taken the name since it was listed.
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

  /// How many bytes it was; none at the end, and when nothing can be read or written.
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
