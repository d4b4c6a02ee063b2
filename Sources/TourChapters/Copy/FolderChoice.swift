// Purpose: which folder is copied: the one below PATH, or PATH itself, with the most files that is
// not too much for a tour and that every copy can be the same of.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct FolderChoice {
  var maxFiles = 5_000
  var maxBytes = 200_000_000
  /// Folders that are looked at.
  var maxFolders = 20_000

  private struct Candidate {
    let path: Path
    /// The place of the folder that holds it.
    let parent: Int?
    var files = 0
    var bytes = 0
    /// Everything below it was looked at, can be read, and is a file, a folder or a symbolic link.
    var isWhole = true
  }

  /// The file `root`, or a folder; nil where there is none.
  func choose(below root: Path) -> Path? {
    if EntryKind(of: root) == .file { return root }
    var found = [Candidate(path: root, parent: nil)]
    var next = 0
    // Parents come before their children.
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
    // Where the folder itself does not fit, one in it may.
    found += listing.folders.map { Candidate(path: $0, parent: index) }
  }
}
