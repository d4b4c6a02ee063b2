// Room: Models/Mutant. A deliberate bug in the engine, and the model that must find it.

struct Mutant {
  /// A description of the bug.
  let name: String
  let file: String
  /// A part of the line to change. If it is not unique, `after` is a part of an earlier line.
  let text: String
  let after: String?
  let change: Mutation.Change
  /// The name of the model that finds the bug.
  let model: String
  /// Whether the search uses weak memory.
  let isWeak: Bool

  init(
    _ name: String, in file: String, at text: String, after: String? = nil,
    _ change: Mutation.Change, foundBy model: String, isWeak: Bool = false
  ) {
    self.name = name
    self.file = file
    self.text = text
    self.after = after
    self.change = change
    self.model = model
    self.isWeak = isWeak
  }

  var mutation: Mutation {
    Mutation(
      change, file: file,
      line: EngineSources.number(in: file, of: text, after: after))
  }
}
