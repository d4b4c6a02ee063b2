// Purpose: chooses the folder to copy: the one with the most files, below PATH or PATH itself, that
// is small enough for a tour and holds nothing that a copy could not reproduce.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct FolderChoice {
  var maxFiles = 5_000
  var maxBytes = 200_000_000
  /// The largest number of folders to examine.
  var maxFolders = 20_000

  private struct Candidate {
    let path: Path
    /// The index of the parent folder's candidate.
    let parent: Int?
    var files = 0
    var bytes = 0
    /// Whether everything below is examined, readable, and a file, a folder or a symbolic link.
    var isWhole = true
  }

  /// Returns the file `root`, or the best folder; nil if there is none.
  func choose(below root: Path) -> Path? {
    if EntryKind(of: root) == .file { return root }
    var found = [Candidate(path: root, parent: nil)]
    var next = 0
    // Parents precede their children.
    while next < found.count {
      if next >= maxFolders { found[next].isWhole = false } else { look(next, &found) }
      next += 1
    }
    for index in found.indices.reversed() {
      guard let parent = found[index].parent else { continue }
      found[parent].files += found[index].files
      found[parent].bytes += found[index].bytes
      found[parent].isWhole = found[parent].isWhole && found[index].isWhole
    }
    let fitting = found.filter {
      $0.isWhole && 1...maxFiles ~= $0.files && $0.bytes <= maxBytes
    }
    return fitting.max { ($0.files, $1.path) < ($1.files, $0.path) }?.path
  }

  private func look(_ index: Int, _ found: inout [Candidate]) {
    guard let listing = try? FolderListing(of: found[index].path) else {
      found[index].isWhole = false
      return
    }
    var folder = found[index]
    folder.files = listing.files.count
    if listing.others > listing.links.count { folder.isWhole = false }
    for file in listing.files {
      var status = stat()
      let isThere = file.withCString { lstat($0, &status) == 0 && access($0, R_OK) == 0 }
      folder.isWhole = folder.isWhole && isThere
      folder.bytes += Int(status.st_size)
    }
    found[index] = folder
    // A folder inside may be small enough even if this one is not.
    found += listing.folders.map { Candidate(path: $0, parent: index) }
  }
}
