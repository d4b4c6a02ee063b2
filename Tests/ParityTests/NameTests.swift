import Foundation
import TestSupport
import Testing

/// Users see the names that `import GrandCentral` gives them, and none of the engine's own.
@Suite("The names that users see") struct NameTests {
  @Test func `are all re-exported, with everything that the engine makes public`() throws {
    let topLevel = try Graph.ofModules(["GrandCentralCore"]).flatMap(\.symbols)
      .filter { $0.pathComponents.count == 1 && $0.location?.uri.contains("/Sources/") == true }
      .map { String($0.path.prefix { $0 != "(" }) }
    #expect(try Set(topLevel).subtracting(exportedNames()).sorted() == [])
  }

  @Test func `do not include the engine's own types, even qualified`() throws {
    let exported = try exportedNames()
    let inner = try declaredTypes().subtracting(exported).sorted()
    // The base class of queues and sources, which the language makes public.
    try #require(inner.contains("_Lane"))
    let uses = ["DispatchQueue", "GrandCentral.DispatchQueue"]
    let forbidden = inner + inner.map { "GrandCentralCore.\($0)" }
    let hidden = try unknownTypes(among: uses + forbidden)
    #expect(Set(forbidden).subtracting(hidden).sorted() == [])
    #expect(hidden.isDisjoint(with: uses))
  }

  /// The names that the file GrandCentral.swift exports.
  private func exportedNames() throws -> Set<String> {
    let path = "\(packageFolder)/Sources/GrandCentral/GrandCentral.swift"
    let text = try #require(contents(of: path))
    let names = text.matches(of: #/@_exported import \w+ GrandCentralCore\.(\w+)/#)
    return Set(names.map { String($0.1) })
  }

  /// The public types of the engine that stand outside other types, however they are marked.
  private func declaredTypes() throws -> Set<String> {
    let folder = "\(packageFolder)/Sources/GrandCentralCore"
    let files = (FileManager.default.enumerator(atPath: folder)?.allObjects ?? [])
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    var names: Set<String> = []
    for file in files {
      let text = try #require(contents(of: "\(folder)/\(file)"))
      let types =
        #/(?m)^public (?:final |unsafe )*(?:class|struct|enum|protocol|typealias) (\w+)/#
      names.formUnion(text.matches(of: types).map { String($0.1) })
    }
    return names
  }

  /// Compiles a user's file that names each type on a line of its own, and returns the types for
  /// which the compiler reports an error.
  private func unknownTypes(among types: [String]) throws -> Set<String> {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("grandcentral-names-\(UUID().uuidString).swift").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let lines =
      ["import GrandCentral"] + types.enumerated().map { "func f\($0)(_ value: \($1)) {}" }
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let result = runChild(
      ["swiftc", "-typecheck", "-swift-version", "6", file] + (try moduleSearchPaths()))
    let errors = result.errors.matches(of: #/\.swift:(\d+):\d+: error: /#)
    return Set(try errors.map { types[try #require(Int($0.1)) - 2] })
  }
}
