// Room: Models/KeptOrderings. Orderings that no model misses and that stay all the same, each with its reason.

struct KeptOrdering {
  let file: String
  /// A part of the line, and of one before it where that is not unique.
  let text: String
  let after: String?
  let change: Mutation.Change
  let why: String

  init(
    in file: String, at text: String, after: String? = nil, _ change: Mutation.Change, why: String
  ) {
    self.file = file
    self.text = text
    self.after = after
    self.change = change
    self.why = why
  }

  var line: UInt32 { EngineSources.number(in: file, of: text, after: after) }

  /// Why the ordering at this place stays, if it does.
  static func reason(_ change: Mutation.Change, file: String, line: UInt32) -> String? {
    all.first { $0.file == file && $0.change == change && $0.line == line }?.why
  }
}

extension KeptOrdering {
  static var all: [KeptOrdering] { Self.workItems }

  private static var workItems: [KeptOrdering] {
    let why = "hands over the queue's constants, such as its kind, which are no modelled memory"
    let file = "DispatchWorkItem.swift"
    return [
      KeptOrdering(in: file, at: "submission.exchange(retained", .dropsAcquire, why: why),
      KeptOrdering(in: file, at: "submission.exchange(retained", .dropsRelease, why: why),
      KeptOrdering(in: file, at: "submission.exchange(0", .dropsAcquire, why: why),
    ]
  }
}
