// Purpose: picks the files that travel through the echo server.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct EchoFile: Hashable {
  let path: Path
  let count: Int
}

enum EchoFiles {
  private static let largest = 16 << 20
  private static let filesLookedAt = 5000

  /// Returns up to `wanted` readable files below `root`: the largest, the smallest, and some
  /// between; the running program if there is none.
  static func pick(_ wanted: Int, below root: Path) -> [EchoFile] {
    let found = all(below: root).sorted { ($0.count, $0.path) < ($1.count, $1.path) }
    guard !found.isEmpty else {
      // By process ID: in a client, "self" would name the client.
      return file(Path("/proc/\(getpid())/exe"), following: true).map { [$0] } ?? []
    }
    guard found.count > wanted else { return found }
    // Evenly spaced by rank, with the smallest and the largest.
    return (0..<wanted).map { found[(found.count - 1) * $0 / max(1, wanted - 1)] }
  }

  private static func all(below root: Path) -> [EchoFile] {
    if EntryKind(of: root) == .file { return file(root).map { [$0] } ?? [] }
    var found: [EchoFile] = []
    var folders = [root]
    while found.count < filesLookedAt, let folder = folders.popLast() {
      guard let listing = try? FolderListing(of: folder) else { continue }
      found += listing.files.compactMap { file($0) }
      folders += listing.folders
    }
    return found
  }

  private static func file(_ path: Path, following: Bool = false) -> EchoFile? {
    var status = stat()
    let result = path.withCString { following ? stat($0, &status) : lstat($0, &status) }
    guard result == 0, 1...(following ? .max : largest) ~= Int(status.st_size),
      path.withCString({ access($0, R_OK) }) == 0
    else { return nil }
    return EchoFile(path: path, count: Int(status.st_size))
  }
}
