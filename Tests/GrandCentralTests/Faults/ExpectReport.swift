import Testing

/// Checks that an exit test ended with one report of a client's mistake, which names the objects
/// and the remedy. Each element of `says` may list alternatives, separated by `|`.
func expectReport(
  _ result: ExitTest.Result?, names: [String] = [], says: [String],
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let result else { return }
  let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
  guard let report = reportText(in: errors) else {
    Issue.record("no report on standard error, but: \(errors)", sourceLocation: sourceLocation)
    return
  }
  for name in names {
    #expect(report.contains(name), "does not name \(name)", sourceLocation: sourceLocation)
  }
  let text = report.lowercased()
  for words in says {
    let isSaid = words.split(separator: "|").contains { text.contains($0.lowercased()) }
    #expect(isSaid, "does not say \(words): \(report)", sourceLocation: sourceLocation)
  }
  #expect(
    !errors.contains("BUG IN GRAND CENTRAL"), "blames the engine", sourceLocation: sourceLocation)
}

/// The first line of the report with the lines that belong to it: a report of a cycle has several.
private func reportText(in errors: String) -> Substring? {
  let prefix = "BUG IN CLIENT OF GRAND CENTRAL: "
  var rest = errors[...]
  while true {
    if rest.hasPrefix(prefix) { return rest.dropFirst(prefix.count) }
    guard let end = rest.firstIndex(of: "\n") else { return nil }
    rest = rest[rest.index(after: end)...]
  }
}
