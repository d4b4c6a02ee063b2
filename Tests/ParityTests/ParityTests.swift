import Foundation
import TestSupport
import Testing

/// Every public declaration of the peer's Swift module for Linux is declared here, or is listed in
/// `missing.tsv` with the room that will add it. A listed declaration must really be missing.
@Suite("The public interface") struct ParityTests {
  @Test func `has what the peer has, except what is listed as missing`() throws {
    let ours = try Surface(modules: ["GrandCentralCore", "GrandCentral"])
    let present = Set(ours.declarations.union(ours.conformances).map(normalised))
    let peer = try list("swift-dispatch-linux.tsv")
    let excused = try Dictionary(
      list("missing.tsv").map { line in
        let (room, declaration) = try split(line)
        return (normalised(declaration), room)
      }, uniquingKeysWith: { first, _ in first })

    let missing = peer.filter { !present.contains(normalised($0)) }
    let unexcused = missing.filter { excused[normalised($0)] == nil }
    #expect(
      unexcused.isEmpty,
      "missing, and not in missing.tsv:\n\(described(unexcused, candidates: ours.declarations))")
    let peerForms = Set(peer.map(normalised))
    let stale = excused.keys.filter { present.contains($0) || !peerForms.contains($0) }.sorted()
    #expect(
      stale.isEmpty,
      "in missing.tsv, but present or unknown:\n\(stale.joined(separator: "\n"))")
    print(summary(peer: peer.count, missing: missing.compactMap { excused[normalised($0)] }))
  }

  @Test func `has what programs for macOS rely on`() throws {
    let ours = try Surface(modules: ["GrandCentralCore"])
    let present = Set(ours.declarations.union(ours.conformances).map(normalised))
    let missing = try list("darwin.tsv").filter { !present.contains(normalised($0)) }
    #expect(
      missing.isEmpty, "missing:\n\(described(missing, candidates: ours.declarations))")
  }

  private func list(_ name: String) throws -> [String] {
    let path = "\(packageFolder)/Tests/ParityTests/Lists/\(name)"
    guard let text = contents(of: path) else { throw GraphError(description: "no file \(path)") }
    return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
  }

  private func split(_ line: String) throws -> (String, String) {
    let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw GraphError(description: "not a room and a line: \(line)") }
    return (parts[0], parts[1])
  }

  /// Each missing line, with the declarations here that have the same path.
  private func described(_ missing: [String], candidates: Set<String>) -> String {
    missing.map { line in
      let path = line.prefix { $0 != "\t" }
      let similar = candidates.filter { $0.prefix { $0 != "\t" } == path }.sorted()
      return ([line] + similar.map { "    ours: \($0)" }).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private func summary(peer: Int, missing rooms: [String]) -> String {
    let counts = Dictionary(rooms.map { ($0, 1) }, uniquingKeysWith: +)
    let lines = counts.sorted { $0.key < $1.key }.map { "  \($0.value) for \($0.key)" }
    return
      (["parity: \(peer - rooms.count) of \(peer) lines of the peer's interface; missing:"]
      + lines).joined(separator: "\n")
  }
}

@Suite("The core's object files") struct ObjectFileTests {
  @Test(arguments: ["CGrandCentralLinux", "GrandCentralPrimitives", "GrandCentralCore"])
  func `refer neither to libdispatch nor to the Concurrency runtime`(_ target: String) throws {
    let folder = "\(buildFolder)/\(target).build"
    let files = (FileManager.default.enumerator(atPath: folder)?.allObjects ?? [])
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".o") }.map { "\(folder)/\($0)" }
    try #require(!files.isEmpty, "no object files in \(folder)")
    let result = runChild(["nm", "--undefined-only"] + files)
    try #require(result.status == 0, "nm: \(result.errors)")
    // Weak references (w and v) need no library: they find the runtime where a program has it.
    let strong = result.lines.filter { $0.contains(" U ") }
    let symbols = strong.compactMap { $0.split(separator: " ").last.map(String.init) }
    #expect(!symbols.isEmpty)
    #expect(Set(symbols.filter(isForbidden)) == [])
  }

  private func isForbidden(_ symbol: String) -> Bool {
    // $sSc…: types of _Concurrency, whose mangled names begin with c (ABI/Mangling.rst).
    [
      "dispatch_", "_dispatch_", "swift_task_", "swift_continuation_", "swift_defaultActor_",
      "$sSc",
    ]
    .contains { symbol.hasPrefix($0) } || symbol.contains("8Dispatch") && symbol.hasPrefix("$s8")
  }
}
