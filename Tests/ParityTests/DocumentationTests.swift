import Foundation
import TestSupport
import Testing

/// Every declaration that a user can name has a summary. A function states its parameters, its
/// result, its errors, how it stops the process, and its source.
@Suite("The public documentation") struct DocumentationTests {
  @Test func `states all that a user must know of each declaration`() throws {
    let symbols = try Graph.ofModules(["GrandCentralCore", "GrandCentral"])
      .flatMap(\.symbols).filter(\.isWritten)
    try #require(symbols.count > 300, "only \(symbols.count) declarations were found")
    let lines = try symbols.compactMap { symbol -> String? in
      let parts = try symbol.documented().missingParts
      return parts.isEmpty
        ? nil : "\(symbol.place): \(symbol.path) lacks \(parts.joined(separator: ", "))"
    }
    let problems = Set(lines).sorted()
    #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
  }

  @Test(arguments: seeds)
  func `is incomplete without each of these parts`(_ seed: Seed) {
    #expect(seed.declaration.missingParts == seed.missing)
  }

  struct Seed: Sendable {
    var doc: String
    var result = "Int"
    var effects = ""
    var body = ""
    var missing: [String]
    var declaration: Documented {
      Documented(
        lines: doc.components(separatedBy: "\n"), isFunction: true, isInitialiser: false,
        parameters: [["seconds", "limit"]], result: result, effects: effects, body: body)
    }
  }

  private static let full = """
    Waits.

    - Parameter limit: the limit in seconds.
    - Returns: the count.
    - Throws: an error.
    - Source: wait(2).
    """

  private static let seeds = [
    Seed(doc: full, effects: "throws", missing: []),
    Seed(doc: "", result: "()", missing: ["its summary", "the parameter limit", "- Source:"]),
    Seed(doc: String(full.dropFirst(7)), missing: ["its summary"]),
    Seed(doc: full.replacing("limit: ", with: "other: "), missing: ["the parameter limit"]),
    Seed(doc: full.replacing("the limit in seconds.", with: ""), missing: ["the parameter limit"]),
    Seed(
      doc: full.replacing("- Parameter limit:", with: "- Parameters:\n  - seconds:"), missing: []),
    Seed(doc: full.replacing("- Returns: the count.", with: ""), missing: ["- Returns:"]),
    Seed(doc: full.replacing("- Returns: the count.", with: ""), result: "Never", missing: []),
    Seed(
      doc: full.replacing("- Throws: an error.", with: ""), effects: "rethrows",
      missing: ["- Throws:"]),
    Seed(doc: full.replacing("- Source: wait(2).", with: ""), missing: ["- Source:"]),
    Seed(doc: full, body: "{ require(limit > 0, \"\") }", missing: ["what stops the process"]),
    Seed(
      doc: full + "\nA limit of 0 stops the process.", body: "{ clientFault(\"\") }", missing: []),
  ]
}

/// A declaration with its documentation, as far as the rules concern it.
struct Documented {
  var lines: [String]
  var isFunction: Bool
  var isInitialiser: Bool
  /// For each parameter its names: the label and the one inside the function.
  var parameters: [[String]]
  var result: String
  /// The text of the declaration outside its parentheses.
  var effects: String
  var body: String

  var missingParts: [String] {
    var missing: [String] = []
    let text = lines.joined(separator: "\n")
    func states(_ part: String) -> Bool {
      text.range(of: "(?m)^\\s*- \(part):[ \\t]*\\S", options: .regularExpression) != nil
    }
    let first = lines.first?.trimmingCharacters(in: .whitespaces) ?? ""
    if first.isEmpty || first.hasPrefix("- ") { missing.append("its summary") }
    if text.range(of: "[Ss]tops? the process|[Tt]raps", options: .regularExpression) == nil,
      body.range(of: "\\b(clientFault|require)\\(", options: .regularExpression) != nil
    {
      missing.append("what stops the process")
    }
    guard isFunction else { return missing }
    for names in parameters
    where !names.contains(where: {
      states("(Parameter )?" + NSRegularExpression.escapedPattern(for: $0))
    }) {
      missing.append("the parameter \(names.last ?? "")")
    }
    let isWithoutResult = isInitialiser || ["", "()", "Void", "Never"].contains(result)
    if !isWithoutResult && !states("Returns") { missing.append("- Returns:") }
    if effects.contains("throws") && !states("Throws") { missing.append("- Throws:") }
    if !states("Source") { missing.append("- Source:") }
    return missing
  }
}

extension Graph.Symbol {
  /// Whether the declaration stands in this package, and is neither the compiler's nor a copy that
  /// a type gets from a protocol.
  fileprivate var isWritten: Bool {
    location?.uri.contains("/Sources/") == true
      && !identifier.precise.contains("::SYNTHESIZED::")
  }

  private var file: String {
    let path = location?.uri ?? ""
    return path.range(of: "/Sources/").map { String(path[$0.lowerBound...].dropFirst()) } ?? path
  }
  fileprivate var place: String { "\(file):\((location?.position.line ?? 0) + 1)" }

  fileprivate func documented() throws -> Documented {
    Documented(
      lines: (docComment?.lines ?? []).map(\.text),
      isFunction: [
        "method", "func", "init", "type.method", "func.op", "subscript", "type.subscript",
      ]
      .contains { kind.identifier == "swift.\($0)" },
      isInitialiser: kind.identifier == "swift.init",
      parameters: (functionSignature?.parameters ?? []).map {
        [$0.name, $0.internalName ?? $0.name]
      },
      result: (functionSignature?.returns ?? []).map(\.spelling).joined(),
      effects: outsideParentheses(declaration), body: try body())
  }

  /// The source of a function or property, from its first line to the bracket that closes it.
  private func body() throws -> String {
    let isType = ["class", "struct", "enum", "protocol"].contains {
      kind.identifier == "swift.\($0)"
    }
    guard !isType, let text = contents(of: "\(packageFolder)/\(file)") else { return "" }
    var depth = 0
    var body: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false)
      .dropFirst(location?.position.line ?? 0)
    {
      body.append(line)
      depth += line.count { $0 == "{" } - line.count { $0 == "}" }
      if depth < 0 || depth == 0 && line.contains("}") { break }
      // A requirement of a protocol or a stored property: the next declaration follows.
      if depth == 0 && line.isEmpty { return "" }
    }
    return body.joined(separator: "\n")
  }

  private func outsideParentheses(_ text: String) -> String {
    var depth = 0
    var outside = ""
    for character in text {
      if character == "(" { depth += 1 }
      if depth == 0 { outside.append(character) }
      if character == ")" { depth -= 1 }
    }
    return outside
  }
}
