// Where items come from, in the words of findings.

extension Recording {
  /// The program's functions from which an item was submitted, innermost first, as one text; `nil`:
  /// it was not recorded, or no file explains it.
  package func originText(of item: Int, maxFrames: Int = 4) -> String? {
    guard let origin = items[item].origin else { return nil }
    return text(ofOrigin: origin, maxFrames: maxFrames)
  }

  func text(ofOrigin origin: Int, maxFrames: Int) -> String? {
    let frames = origins[origin].frames
    if frames.isEmpty { return nil }
    let more = frames.count > maxFrames ? ["…"] : []
    return (frames.prefix(maxFrames) + more).joined(separator: " < ")
  }
}

extension RecordedAnalysis {
  /// A line that says from where an item was submitted, if that is known.
  func origin(_ item: Int) -> [String] {
    recording.originText(of: item).map { ["Submitted by: \($0)"] } ?? []
  }

  /// The places from which most of the items were submitted, if they are known.
  func commonOrigins(_ items: [Int]) -> [String] {
    var counts: [String: Int] = [:]
    for item in items {
      if let text = recording.originText(of: item, maxFrames: 3) { counts[text, default: 0] += 1 }
    }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map {
      "\($1 * 100 / max(1, items.count)) % submitted by: \($0)"
    }
  }
}
