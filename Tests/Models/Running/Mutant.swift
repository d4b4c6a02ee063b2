// Room: Models/Mutant. A bug put into the engine on purpose, and the model that must find it.

struct Mutant {
  /// What is wrong, in words.
  let name: String
  let file: String
  /// A part of the line, and of one before it where that is not unique.
  let text: String
  let after: String?
  let change: Mutation.Change
  /// The model that finds it.
  let model: String
  /// Whether it takes weak memory to see it.
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
