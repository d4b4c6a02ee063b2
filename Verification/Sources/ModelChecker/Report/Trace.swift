// Room: ModelChecker/Trace. The threads' steps as readable lines.

final class Trace {
  struct Line {
    let thread: String
    let text: String
    let site: Site
  }
  private(set) var lines: [Line] = []

  private func add(_ execution: Execution, _ text: String, _ site: Site) {
    lines.append(
      Line(thread: Report.name(of: execution.running, execution), text: text, site: site))
  }

  func note(_ text: String, _ site: Site) {
    let parts = text.split(separator: ":", maxSplits: 1)
    lines.append(
      Line(
        thread: String(parts[0]), text: parts.count > 1 ? String(parts[1].dropFirst()) : "",
        site: site))
  }

  private func word(_ location: Word) -> String { "word \(location.pointee.number)" }
  private func bits(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }

  func load(_ execution: Execution, _ location: Word, _ value: UInt64, age: Int, _ site: Site) {
    let old = age == 0 ? "" : " (\(age) stores old)"
    add(execution, "\(word(location)) is \(bits(value))\(old)", site)
  }

  func store(_ execution: Execution, _ location: Word, _ value: UInt64, _ site: Site) {
    add(execution, "\(word(location)) := \(bits(value))", site)
  }

  func end(_ execution: Execution, _ location: Word) {
    add(execution, "\(word(location)) is gone", location.pointee.site)
  }

  func update(
    _ execution: Execution, _ location: Word, from old: UInt64, to new: UInt64, _ site: Site
  ) {
    add(execution, "\(word(location)) \(bits(old)) → \(bits(new))", site)
  }

  func failedExchange(
    _ execution: Execution, _ location: Word, _ seen: UInt64, _ expected: UInt64, _ site: Site
  ) {
    let why = seen == expected ? "for no reason" : "is \(bits(seen)), not \(bits(expected))"
    add(execution, "\(word(location)) exchange fails: \(why)", site)
  }
}
