// Reads a module's public declarations as the peer's list was made: swift-symbolgraph-extract
// writes JSON with the path and the fragments of each declaration.
import Foundation
import TestSupport

/// Reports a symbol graph that could not be made or read.
struct GraphError: Error, CustomStringConvertible { let description: String }

/// The public declarations of some modules.
struct Surface {
  /// Path, a tab, declaration, as in the lists.
  private(set) var declarations: Set<String> = []
  /// `conformance`, a tab, `Type: Protocol or superclass`.
  private(set) var conformances: Set<String> = []

  init(modules: [String]) throws {
    for graph in try Graph.ofModules(modules) { add(graph) }
    addInherited()
  }

  /// Adds what a class inherits through classes that the peer does not have.
  private mutating func addInherited() {
    var above: [String: [String]] = [:]
    for line in conformances {
      let parts = line.dropFirst("conformance\t".count).components(separatedBy: ": ")
      if parts.count == 2 { above[parts[0], default: []].append(parts[1]) }
    }
    for type in above.keys {
      var pending = above[type] ?? []
      var seen = Set(pending)
      while let next = pending.popLast() {
        conformances.insert("conformance\t\(type): \(next)")
        pending += (above[next] ?? []).filter { seen.insert($0).inserted }
      }
    }
  }

  private mutating func add(_ graph: Graph) {
    var names: [String: String] = [:]
    for symbol in graph.symbols {
      names[symbol.identifier.precise] = symbol.path
      declarations.insert("\(symbol.path)\t\(symbol.declaration)")
    }
    for link in graph.relationships where ["conformsTo", "inheritsFrom"].contains(link.kind) {
      guard let source = names[link.source] else { continue }
      let fallback = link.targetFallback.map {
        $0.split(separator: ".").last.map(String.init) ?? $0
      }
      guard let target = names[link.target] ?? fallback else { continue }
      conformances.insert("conformance\t\(source): \(target)")
    }
  }
}

/// The package's folder, found from the path of this file.
let packageFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

#if arch(arm64)
  private let target = "aarch64-unknown-linux-gnu"
#else
  private let target = "x86_64-unknown-linux-gnu"
#endif

/// The part of the format that the tests need: https://github.com/swiftlang/swift-docc-symbolkit,
/// openapi.yaml.
struct Graph: Decodable {
  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Fragment: Decodable { let spelling: String }
    struct Comment: Decodable {
      struct Line: Decodable { let text: String }
      let lines: [Line]
    }
    struct Signature: Decodable {
      struct Parameter: Decodable {
        let name: String
        let internalName: String?
      }
      let parameters: [Parameter]?
      let returns: [Fragment]?
    }
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: String
      let position: Position
    }
    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [Fragment]?
    let docComment: Comment?
    let functionSignature: Signature?
    let location: Location?

    /// The names of the declarations around this one and its own: `DispatchQueue.async(execute:)`.
    var path: String { pathComponents.joined(separator: ".") }
    var declaration: String { (declarationFragments ?? []).map(\.spelling).joined() }
  }
  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
  }
  let symbols: [Symbol]
  let relationships: [Relationship]

  /// Extracts the public declarations of modules of this build.
  static func ofModules(_ modules: [String]) throws -> [Graph] {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("grandcentral-parity-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for module in modules {
      let result = runChild(
        [
          "swift-symbolgraph-extract", "-module-name", module, "-target", target,
          "-minimum-access-level", "public", "-skip-inherited-docs", "-output-dir", folder.path,
        ] + (try moduleSearchPaths()))
      guard result.status == 0 else {
        throw GraphError(description: "swift-symbolgraph-extract \(module): \(result.errors)")
      }
    }
    return try FileManager.default
      .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { try JSONDecoder().decode(Graph.self, from: Data(contentsOf: $0)) }
  }
}

/// The options with which a tool of the toolchain finds this build's modules.
func moduleSearchPaths() throws -> [String] {
  let clang = try FileManager.default.contentsOfDirectory(atPath: buildFolder)
    .map { "\(buildFolder)/\($0)/module.modulemap" }
    .filter { FileManager.default.fileExists(atPath: $0) }
  return ["-I", "\(buildFolder)/Modules", "-I", "\(packageFolder)/Sources/CLinux/include"]
    + clang.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
}
