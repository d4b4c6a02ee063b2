// Decides which declarations are the same. Two modules write the same interface differently where
// callers see no difference; everything else must match exactly. These are not compared:
// - attributes (@discardableResult, @preconcurrency, @available, @inlinable …), and @Sendable:
//   macOS has it on more parameters than the peer's list, and @preconcurrency makes it harmless
// - open, public, final, override, convenience, required, nonisolated
// - class func and static func; class var and static var
// - parameter names inside the function (labels are compared); () and Void
// - consuming, borrowing, sending and the like, which change no call
// - a constant and a variable that can only be read
// - operators as functions of the module and of a type
// - typed and untyped rethrowing of a generic closure, back-ticks, white space

/// Converts a declaration of a list or a graph to the form that is compared.
func normalised(_ line: String) -> String {
  let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
  guard parts.count == 2 else { return line }
  if parts[0] == "conformance" { return line }
  let path = parts[0].replacing(#/^.*\.(?=[-+=<>]+\()/#) { _ in "" }
  return path + "\t" + normalisedDeclaration(parts[1])
}

private func normalisedDeclaration(_ declaration: String) -> String {
  var text = declaration.replacingOccurrences(of: "`", with: "")
  for (pattern, replacement) in rules {
    text = text.replacing(pattern) { _ in replacement }
  }
  if text.contains(#/\blet /#) {
    text = text.replacing(#/\blet /#) { _ in "var " } + " { get }"
  }
  text = withoutInnerNames(text)
  return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

nonisolated(unsafe) private let rules: [(Regex<Substring>, String)] = [
  (/@[A-Za-z_]+(?:\([^)]*\))?\s*/, ""),
  (/\b(?:open|public|final|override|convenience|required|nonisolated)\s+/, ""),
  (/\b(?:consuming|borrowing|sending|__owned|__shared|isolated)\s+/, ""),
  (/\bclass\s+(?=(?:func|var)\b)/, "static "),
  (#/\bstatic func (?=[-+=<>]+ )/#, "func "),
  (/\bVoid\b/, "()"),
  (/\s*:\s*(?=[A-Za-z(\[@])/, ": "),
]

/// Removes inner names: `func f(label inner: T)` becomes `func f(label: T)`.
private func withoutInnerNames(_ text: String) -> String {
  text.replacing(/([(,]\s*)([A-Za-z_]\w*)\s+[A-Za-z_]\w*\s*:/) { "\($0.1)\($0.2):" }
}
