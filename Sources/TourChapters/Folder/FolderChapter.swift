// Purpose: the chapter of the watched folder. Real commands change the folder, and every change
// must be reported.

import GrandCentral
import TourKit

struct FolderChapter {
  let report: ChapterReport

  func run() {
    guard Spawn.exists("sh") else { return report.say("No sh here: nothing changes the folder.") }
    guard let folder = Leavings.shared.makeFolder() else {
      return report.check(false, "a folder to watch", otherwise: "cannot make one")
    }
    let watch = FolderWatch(report: report)
    guard watch.watch("folder", folder) else {
      return report.check(false, "a watch over \(folder)", otherwise: "cannot open it")
    }
    var untold = 0
    for step in FolderStep.all where !perform(step, in: folder, watch) { untold += 1 }
    report.check(
      untold == 0,
      "\(Wording.count(FolderStep.all.count, "change")) made by commands, and each was told",
      otherwise: "\(Wording.count(untold, "change")) untold")
    report.check(watch.stop(), "every watch ends in its cancel handler", otherwise: "some did not")
    Leavings.shared.remove(folder)
  }

  /// Runs the step's command and waits for its events. Returns false if some did not come.
  private func perform(_ step: FolderStep, in folder: Path, _ watch: FolderWatch) -> Bool {
    report.say("$ \(step.command)")
    watch.beginStep(expecting: step.events)
    let words = [Path("-c"), Path("cd \"$1\" && \(step.command)"), Path("sh"), folder]
    let ending = WatchedProgram.run(Spawn("sh", words))
    guard (try? ending.get()) == .exited(0) else {
      report.check(false, step.command, otherwise: "the command failed")
      return false
    }
    let missing = watch.settle()
    for (name, events) in missing.sorted(by: { $0.key < $1.key }) {
      report.check(false, "\(name) hears \(events.words)", otherwise: "ten seconds of silence")
    }
    if let next = step.watchNext, !watch.watch(next, folder.appending(next)) {
      report.check(false, "a watch over \(next)", otherwise: "cannot open it")
      return false
    }
    return missing.isEmpty
  }
}
