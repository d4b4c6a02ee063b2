// Purpose: the chapter of the pipeline. A long file passes a channel, a transliteration and another
// channel, in memory that does not grow with the file.

import GrandCentral
import TourKit

struct PipelineChapter {
  let report: ChapterReport
  let root: Path
  let bytes: Int

  /// The largest growth of the process, whatever the length of the file: 5 MiB that the flow holds,
  /// 8 MiB in the channels, and 7 MiB of code and stacks that are first touched here.
  static let growthLimit = 20 << 20

  func run() {
    let startBytes = Machine.residentBytes
    guard let folder = Leavings.shared.makeFolder() else {
      return report.check(false, "a folder for the files", otherwise: "cannot make one")
    }
    defer { Leavings.shared.remove(folder) }
    let count = bytesThatFit(in: folder)
    let source = folder.appending("source")
    report.say("making a file of \(Wording.bytes(count)) out of those below \(root)")
    switch LongFile.make(source, of: count, from: root) {
    case .success(let origin):
      report.tell(
        "\(Wording.count(origin.files, "file")) of \(Wording.bytes(origin.bytes)) together, "
          + "over and over")
    case .failure(let fault):
      return report.check(false, "\(fault.path)", otherwise: fault.reason)
    }
    transliterate(source, to: folder.appending("result"), count, since: startBytes)
  }

  /// The requested length, or less if the file system has no room for both files.
  private func bytesThatFit(in folder: Path) -> Int {
    guard let free = Machine.freeBytes(in: folder) else { return bytes }
    let room = max(1, (free - 64 << 20) / 2)
    if room < bytes { report.say("There is only room for \(Wording.bytes(room)) twice.") }
    return min(bytes, room)
  }

  private func transliterate(_ source: Path, to result: Path, _ count: Int, since startBytes: Int) {
    let rule = Transliteration("a-z", "A-Z")
    let start = Machine.nanoseconds
    let outcome = flow(source, result, rule)
    let seconds = Machine.seconds(since: start)
    let growth = Machine.peakMemoryBytes - startBytes
    report.tell(
      "read channel, \(rule.first) to \(rule.second), write channel: \(Wording.seconds(seconds)), "
        + "\(Wording.bytes(Double(count) / max(seconds, 1e-9)))/s; the reader waited "
        + Wording.count(outcome.pauses, "time"))
    report.check(
      outcome.fault == nil && (outcome.bytesRead, outcome.bytesWritten) == (count, count),
      "all \(Wording.count(count)) bytes went in and came out",
      otherwise: "\(outcome)")
    let most = ChannelFlow.heldBytesLimit + ChannelFlow.pieceBytes
    report.check(
      outcome.maxBytesHeld <= most,
      "\(Wording.bytes(outcome.maxBytesHeld)) at the most were under way, of \(Wording.bytes(most))",
      otherwise: Wording.bytes(outcome.maxBytesHeld))
    checkGrowth(growth)
    if TrComparison.hasCommands {
      report.check(
        TrComparison.agrees(rule, source, result),
        "tr \(rule.first) \(rule.second) gives the same, byte for byte", otherwise: "cmp differs")
    } else {
      report.check(
        TrComparison.agreesWithLoop(rule, source, result),
        "a plain loop gives the same, byte for byte (no tr here)", otherwise: "it differs")
    }
  }

  private func checkGrowth(_ growth: Int) {
    let words = "\(Wording.bytes(growth)) of memory at the most over the start"
    if Machine.isSanitized { return report.say("\(words), the sanitizer's included") }
    report.check(
      growth <= Self.growthLimit, "\(words), of \(Wording.bytes(Self.growthLimit))",
      otherwise: "more than \(Wording.bytes(Self.growthLimit))")
  }

  private func flow(
    _ source: Path, _ result: Path, _ rule: Transliteration
  ) -> ChannelFlow.Outcome {
    let buffers = SpareBuffers(bufferBytes: ChannelFlow.pieceBytes)
    let isOver = DispatchSemaphore(value: 0)
    // SAFETY: written once, before the signal that the reading thread waits for.
    nonisolated(unsafe) var outcome = ChannelFlow.Outcome()
    ChannelFlow(from: source, to: result, change: { rule($0, in: buffers) }).start { result in
      outcome = result
      isOver.signal()
    }
    isOver.wait()
    return outcome
  }
}
