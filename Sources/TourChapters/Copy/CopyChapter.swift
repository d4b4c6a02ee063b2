// Purpose: the chapter of the copied folder. cp(1) makes one copy, channels make another with many
// files at a time, and the copies are compared.

import GrandCentral
import TourKit

struct CopyChapter {
  let report: ChapterReport
  let root: Path

  func run() {
    guard let chosen = FolderChoice().choose(below: root) else {
      return report.say("There is no folder with files that every copy can be the same of.")
    }
    guard let folder = Leavings.shared.makeFolder() else {
      return report.check(false, "a folder for the copies", otherwise: "cannot make one")
    }
    defer { Leavings.shared.remove(folder) }
    do throws(FileFault) {
      let tree = try FolderTree(of: chosen)
      if let free = Machine.freeBytes(in: folder), free / 2 < tree.bytes + 64 << 20 {
        return report.say("There is no room for two copies of \(Wording.bytes(tree.bytes)).")
      }
      copy(tree, into: folder)
    } catch {
      report.check(false, "a look at \(error.path)", otherwise: error.reason)
    }
  }

  private func copy(_ tree: FolderTree, into folder: Path) {
    report.say(
      "copying \(tree.root): \(Wording.count(tree.files.count, "file")) in "
        + "\(Wording.count(tree.folders.count, "folder")), \(Wording.bytes(tree.bytes)), "
        + Wording.count(tree.links.count, "link"))
    let ours = folder.appending("ours")
    let progress = CopyProgress(report, files: tree.files.count, bytes: tree.bytes)
    let start = Machine.nanoseconds
    let outcome = FolderCopy(of: tree, to: ours, progress: progress).run()
    let seconds = Machine.seconds(since: start)
    progress.end()
    report.tell(
      "\(Wording.count(outcome.files, "file")) and \(Wording.bytes(outcome.bytes)) in "
        + "\(Wording.seconds(seconds)), \(outcome.maxAtOnce) at a time")
    report.check(
      outcome.faults.isEmpty && (outcome.files, outcome.bytes) == (tree.files.count, tree.bytes),
      "every file was copied to its last byte",
      otherwise: outcome.faults.first.map { "\($0.path): \($0.reason)" }
        ?? "\(outcome). Were they changed meanwhile?")
    compare(ours, with: tree, theirs: folder.appending("cp"))
  }

  private func compare(_ ours: Path, with tree: FolderTree, theirs: Path) {
    let start = Machine.nanoseconds
    let words = [Path("-RP"), Path("--"), tree.root, theirs]
    let hasCopy =
      Spawn.exists("cp") && (try? WatchedProgram.run(Spawn("cp", words).quiet).get()) == .exited(0)
    var expected = tree.root
    if hasCopy {
      report.tell("cp in \(Wording.seconds(Machine.seconds(since: start)))")
      expected = theirs
    } else {
      report.say("cp does not copy it here: our copy is held against the folder itself.")
    }
    let source = hasCopy ? "the copy that cp made" : "the folder"
    if let isSame = CopyComparison.diff(expected, ours) {
      report.check(
        isSame, "diff -r finds no difference to \(source)", otherwise: "it does find some")
    } else {
      report.check(
        CopyComparison.isSame(expected, ours),
        "names, lengths, checksums and links are those of \(source) (no diff here)",
        otherwise: "they are not")
    }
  }
}
