// Purpose: lists everything in a folder.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct FolderTree {
  struct File {
    let path: Path
    let bytes: Int
    let mode: mode_t
  }

  let root: Path
  /// Parents precede their children. The first is the root, unless the root is a file.
  private(set) var folders: [Path] = []
  private(set) var files: [File] = []
  private(set) var links: [Path] = []

  var bytes: Int { files.reduce(0) { $0 + $1.bytes } }

  /// Lists everything below `root`, without following symbolic links.
  init(of root: Path) throws(FileFault) {
    self.root = root
    if EntryKind(of: root) == .file {
      files = [try Self.file(root)]
      return
    }
    folders = [root]
    var next = 0
    while next < folders.count {
      let listing = try FolderListing(of: folders[next])
      folders += listing.folders
      links += listing.links
      for path in listing.files { try files.append(Self.file(path)) }
      next += 1
    }
  }

  private static func file(_ path: Path) throws(FileFault) -> File {
    var status = stat()
    guard path.withCString({ lstat($0, &status) }) == 0 else {
      throw FileFault(path: path, code: errno)
    }
    return File(path: path, bytes: Int(status.st_size), mode: status.st_mode & 0o777)
  }

  /// Returns the target of a symbolic link, as the link stores it.
  static func target(of link: Path) -> Path? {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = link.withCString {
        readlink($0, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      }
      return count > 0 ? Path(bytes: buffer[..<count]) : nil
    }
  }
}
