// Purpose: checks that a text is well-formed XML, in the subset that the tour writes: elements,
// attributes in double quotes, text, the five entities, a declaration. Source: Extensible Markup
// Language 1.0, section 2.1.

enum WellFormed {
  /// Returns what is wrong with `text`; nil if it is well-formed.
  static func fault(in text: String) -> String? {
    var open: [Substring] = []
    var roots = 0
    var rest = text[...]
    if rest.hasPrefix("<?xml ") {
      guard let end = rest.start(of: "?>") else { return "an endless declaration" }
      rest = rest[end...].dropFirst(2)
    }
    while let start = rest.firstIndex(of: "<") {
      if let fault = faultInText(rest[..<start], isOutside: open.isEmpty) { return fault }
      guard let end = rest[start...].firstIndex(of: ">") else { return "an endless tag" }
      var tag = rest[rest.index(after: start)..<end]
      rest = rest[end...].dropFirst()
      if tag.hasPrefix("/") {
        guard let name = open.popLast(), name == tag.dropFirst() else { return "</\(tag)" }
        continue
      }
      let isEmpty = tag.hasSuffix("/")
      if isEmpty { tag.removeLast() }
      let name = tag.prefix { !$0.isWhitespace }
      if name.isEmpty || !name.allSatisfy(\.isLetter) { return "an element '\(name)'" }
      if let fault = faultInAttributes(tag.dropFirst(name.count)) { return fault }
      if open.isEmpty { roots += 1 }
      if !isEmpty { open.append(name) }
    }
    if let fault = faultInText(rest, isOutside: open.isEmpty) { return fault }
    if !open.isEmpty { return "\(open) not closed" }
    return roots == 1 ? nil : "\(roots) roots"
  }

  private static func faultInText(_ text: Substring, isOutside: Bool) -> String? {
    if isOutside && text.contains(where: { !$0.isWhitespace }) { return "text outside: \(text)" }
    return faultInEntities(text)
  }

  private static func faultInEntities(_ text: Substring) -> String? {
    for part in text.split(separator: "&", omittingEmptySubsequences: false).dropFirst() {
      let isEntity = ["amp;", "lt;", "gt;", "quot;", "apos;"].contains { part.hasPrefix($0) }
      if !isEntity { return "a lone &: &\(part)" }
    }
    return nil
  }

  private static func faultInAttributes(_ text: Substring) -> String? {
    var rest = text
    var names: Set<Substring> = []
    while let start = rest.firstIndex(where: { !$0.isWhitespace }) {
      rest = rest[start...]
      guard let equals = rest.firstIndex(of: "=") else { return "an attribute: \(rest)" }
      guard names.insert(rest[..<equals]).inserted else { return "twice: \(rest[..<equals])" }
      let quoted = rest[equals...].dropFirst()
      guard quoted.hasPrefix("\""), let end = quoted.dropFirst().firstIndex(of: "\"") else {
        return "an attribute without quotes: \(rest)"
      }
      let value = quoted[..<end].dropFirst()
      if value.contains("<") { return "< in an attribute" }
      if let fault = faultInEntities(value) { return fault }
      rest = quoted[end...].dropFirst()
    }
    return nil
  }
}

extension Substring {
  /// Returns the first index at which `text` begins in this string.
  fileprivate func start(of text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}
