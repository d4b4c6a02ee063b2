// Purpose: compares two copies with diff(1), or without commands where diff(1) is missing.

import TourKit

enum CopyComparison {
  /// Whether both folders hold the same names, bytes and links; nil if diff(1) cannot compare them.
  static func diff(_ first: Path, _ second: Path) -> Bool? {
    guard Spawn.exists("diff") else { return nil }
    // A diff without the option --no-dereference exits with 2, and would follow dangling links.
    let words = ["-r", "-q", "--no-dereference", "--"].map { Path($0) } + [first, second]
    guard case .success(.exited(let code)) = WatchedProgram.run(Spawn("diff", words).silent),
      code < 2
    else { return nil }
    return code == 0
  }

  /// Compares by names, lengths, checksums and link targets, without commands.
  static func isSame(_ first: Path, _ second: Path) -> Bool {
    guard let one = try? FolderTree(of: first), let other = try? FolderTree(of: second),
      one.files.count == other.files.count, one.folders.count == other.folders.count,
      one.links.count == other.links.count
    else { return false }
    let areLinksSame = one.links.allSatisfy { link in
      let target = FolderTree.target(of: link)
      return target != nil && target == FolderTree.target(of: link.moved(from: first, to: second))
    }
    return areLinksSame
      && one.folders.allSatisfy { EntryKind(of: $0.moved(from: first, to: second)) == .folder }
      && one.files.allSatisfy { file in
        guard let sum = checksum(file.path) else { return false }
        return sum == checksum(file.path.moved(from: first, to: second))
      }
  }

  private static func checksum(_ file: Path) -> [UInt64]? {
    guard case .done(let sum, let count) = checksumFile(file, afterPiece: { _ in true }) else {
      return nil
    }
    return [UInt64(sum), count]
  }
}
