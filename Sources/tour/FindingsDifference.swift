// Purpose: describes the difference between two engines' findings.

import TourKit

enum FindingsDifference {
  /// Describes where `found` differs from `expected`; empty if they are equal.
  static func lines(of found: Findings, from expected: Findings) -> [String] {
    if found == expected { return [] }
    var lines: [String] = []
    let before = Dictionary(
      expected.files.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    var unseen = before
    for file in found.files {
      unseen[file.path] = nil
      switch before[file.path] {
      case nil: lines.append("\(file.path): only now found")
      case .some(let record) where record != file:
        lines.append(
          "\(file.path): checksum \(file.checksum) of \(file.count) bytes, expected "
            + "\(record.checksum) of \(record.count)")
      default: break
      }
    }
    lines += unseen.keys.sorted().map { "\($0): missing" }
    if found.files.count != before.count && lines.isEmpty {
      lines.append("\(found.files.count) files, expected \(before.count): some came twice")
    }
    for (what, now, then) in [
      ("folders", found.folders, expected.folders),
      ("links and other entries", found.others, expected.others),
      ("unreadable", found.faults.count, expected.faults.count),
    ] where now != then {
      lines.append("\(now) \(what), expected \(then)")
    }
    return lines.isEmpty ? ["the errors of unreadable files differ"] : lines
  }
}
