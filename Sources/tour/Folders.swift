// Purpose: chooses the folder of the tour: the PATH argument, or a folder of the toolchain.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum Folders {
  /// Resolves `path` through symbolic links to a file or folder.
  static func resolve(_ path: Path) throws(Complaint) -> Path {
    guard let resolved = realPath(path) else {
      throw .usage("cannot open '\(path)': \(String(cString: strerror(errno))).")
    }
    switch EntryKind(of: resolved) {
    case .link, .other: throw .usage("'\(path)' is neither a folder nor an ordinary file.")
    case .file:
      guard resolved.withCString({ access($0, R_OK) }) == 0 else {
        throw .usage("cannot read '\(path)': \(String(cString: strerror(errno))).")
      }
    case .folder:
      do throws(FileFault) {
        _ = try FolderListing(of: resolved)
      } catch {
        throw .usage("cannot read the folder '\(path)': \(error.reason).")
      }
    }
    return resolved
  }

  /// Returns a folder with some thousand files: the C headers, which the toolchain needs for every
  /// compilation; otherwise the toolchain's libraries, or folders of every system.
  static func standard() throws(Complaint) -> Path {
    let places = [Path("/usr/include"), toolchainLibraries(), Path("/usr/share"), Path("/usr/lib")]
    let folders = places.compactMap { $0.flatMap(realPath) }
    let found =
      folders.first { hasFiles($0, atLeast: 1000) } ?? folders.first { hasFiles($0, atLeast: 1) }
    guard let found else {
      throw .usage("found no folder to work on by itself. Name one: tour PATH.")
    }
    return found
  }

  private static func realPath(_ path: Path) -> Path? {
    guard let resolved = path.withCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return Path(cString: resolved)
  }

  /// Returns `lib/swift` of the toolchain whose `swift` is first in PATH.
  private static func toolchainLibraries() -> Path? {
    guard let search = getenv("PATH") else { return nil }
    for folder in Path(cString: search).bytes.split(separator: UInt8(ascii: ":")) {
      let command = Path(bytes: folder).appending("swift")
      guard command.withCString({ access($0, X_OK) }) == 0, let tool = realPath(command) else {
        continue
      }
      return tool.parent.parent.appending("lib").appending("swift")
    }
    return nil
  }

  private static func hasFiles(_ root: Path, atLeast wanted: Int) -> Bool {
    var count = 0
    var folders = [root]
    while count < wanted, let folder = folders.popLast() {
      guard let listing = try? FolderListing(of: folder) else { continue }
      count += listing.files.count
      folders.append(contentsOf: listing.folders)
    }
    return count >= wanted
  }
}
