// Purpose: compares the job's checksums with those of the system's `cksum` command.

import TourKit

struct CksumComparison {
  /// The number of files compared, and of those for which `cksum` printed no checksum.
  var compared = 0
  var unanswered = 0
  /// A description of each file whose checksums differ.
  var differences: [String] = []
  /// Whether all files are compared, instead of a sample.
  let isComplete: Bool

  private static let fileBudget = 20_000
  private static let byteBudget: UInt64 = 1 << 29

  /// Compares all of `files`, or an even sample if all would take long. Stops when interrupted.
  init(of files: [FileRecord]) throws(Complaint) {
    let sample = Self.sample(of: files)
    isComplete = sample.count == files.count
    var rest = sample[...]
    while !rest.isEmpty && !Interruption.isRaised {
      var room = 100_000  // Well below the maximum length of a command line.
      let batch = rest.prefix { file in
        room -= file.path.bytes.count + 16
        return room > 0
      }
      let taken = max(1, batch.count)
      try compare(rest.prefix(taken))
      rest = rest.dropFirst(taken)
    }
  }

  /// An even sample whose numbers of files and bytes stay near the budgets.
  static func sample(of files: [FileRecord]) -> [FileRecord] {
    // cksum prints a line per file, so names with a line break or a backslash are left out.
    let fitting = files.filter { file in
      file.count <= byteBudget && !file.path.bytes.contains { $0 == 10 || $0 == 92 }
    }
    let bytes = fitting.reduce(0) { $0 + $1.count }
    let stride = max(1, (fitting.count + fileBudget - 1) / fileBudget, Int(bytes / byteBudget) + 1)
    return fitting.enumerated().filter { $0.offset.isMultiple(of: stride) }.map(\.element)
  }

  private mutating func compare(_ batch: ArraySlice<FileRecord>) throws(Complaint) {
    let child = try ChildProcess(
      running: "cksum", [Path("--")] + batch.map(\.path), reading: 1, isQuiet: true)
    if Interruption.isRaised { return }
    var answers: [ArraySlice<UInt8>: ArraySlice<UInt8>] = [:]
    for line in child.output.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      guard parts.count == 3 else { continue }
      answers[parts[2]] = line[parts[0].startIndex..<parts[1].endIndex]
    }
    for file in batch {
      guard let answer = answers[file.path.bytes] else {
        unanswered += 1
        continue
      }
      compared += 1
      let ours = "\(file.checksum) \(file.count)"
      if !answer.elementsEqual(ours.utf8) {
        let theirs = String(decoding: answer, as: UTF8.self)
        differences.append("\(file.path): cksum says \(theirs), we say \(ours)")
      }
    }
  }
}
