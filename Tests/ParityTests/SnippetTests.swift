// The examples of the documentation of tasks compile: those of Docs/Async.md, and those in the
// comments of Sources/GrandCentral.
import Foundation
import TestSupport
import Testing

/// The blocks of Swift code in a text of Markdown, or in the comments of a source.
private func snippets(in text: String) -> [String] {
  var all: [String] = []
  var lines: [String]?
  for line in text.components(separatedBy: "\n") {
    let start = line.firstIndex { $0 != " " } ?? line.endIndex
    let isComment = line[start...].hasPrefix("///")
    let rest = isComment ? line[start...].dropFirst(3) : line[...]
    let code = String(isComment && rest.first == " " ? rest.dropFirst() : rest)
    switch (lines, code.trimmingCharacters(in: .whitespaces)) {
    case (nil, "```swift"): lines = []
    case (let collected?, "```"):
      all.append(collected.joined(separator: "\n"))
      lines = nil
    case (_?, _): lines?.append(code)
    default: break
    }
  }
  return all
}

/// What the examples take for granted.
private let surroundings = """
  import Glibc
  import GrandCentral
  struct Server { func stop() {} }
  let (socket, child, listening): (Int32, Int32, Int32) = (0, 0, 0)
  let (server, rows, data) = (Server(), [1, 2, 3], DispatchData.empty)
  let database = DispatchQueue(label: "database")
  func answer(to line: String) -> DispatchData { .empty }
  func importAll() async {}
  func serve(_ client: Int32) {}

  """

@Suite("The examples of the documentation of tasks", .timeLimit(.minutes(30))) struct SnippetTests {
  private func expectCompiles(_ source: String, _ name: String) throws {
    let scratch = ScratchFolder()
    try source.write(toFile: scratch[name], atomically: true, encoding: .utf8)
    let result = runChild(
      ["swiftc", "-typecheck", "-swift-version", "6"] + modules + [scratch[name]],
      seconds: max(600, deadlineSeconds))
    #expect(result.status == 0, "\(result.errors)\n\(source)")
  }

  @Test func `compile in Swift 6 mode`() throws {
    var texts = [try String(contentsOfFile: packageFolder + "/Docs/Async.md", encoding: .utf8)]
    let folder = packageFolder + "/Sources/GrandCentral"
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    for case let file as String in files where file.hasSuffix(".swift") {
      texts.append(try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8))
    }
    let all = texts.flatMap(snippets)
    #expect(all.count >= 12, "\(all.count) examples were found")
    // Whole programs, and the programs of ExecutorFactoryTests.
    let programs = all.filter { $0.contains("import ") && !$0.contains("@_spi") }
    let parts = all.filter { !$0.contains("import ") }
    let functions = parts.enumerated().map { number, part in
      "func example\(number)() async throws {\n\(part)\n}\n"
    }
    try expectCompiles(surroundings + functions.joined(), "Examples.swift")
    for program in programs { try expectCompiles(program, "main.swift") }
  }

  @Test func `are found, and their mistakes too`() throws {
    let text = """
      text
        /// ```swift
        /// let a = 1
        /// ```
      ```swift
      b()
      ```
      ```
      no
      ```
      """
    #expect(snippets(in: text) == ["let a = 1", "b()"])
    let scratch = ScratchFolder()
    try "nonsense()".write(toFile: scratch["main.swift"], atomically: true, encoding: .utf8)
    #expect(runChild(["swiftc", "-typecheck", scratch["main.swift"]]).status != 0)
  }
}
