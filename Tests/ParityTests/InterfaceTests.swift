import Foundation
import TestSupport
import Testing

/// The public interface is that of Lists/interface.tsv, which a change updates on purpose:
/// GRANDCENTRAL_WRITE_INTERFACE=1 scripts/dev test ParityTests.InterfaceTests writes it anew. A
/// line that the new list lacks breaks programs, so the next version's number must say so.
@Suite("The public interface's baseline") struct InterfaceTests {
  private static let file = "\(packageFolder)/Tests/ParityTests/Lists/interface.tsv"

  @Test func `lists each declaration and each conformance`() throws {
    let surface = try Surface(modules: ["GrandCentralCore", "GrandCentral"])
    let now = Set(
      surface.declarations.union(surface.conformances).map { $0.replacing("\n", with: " ") })
    try #require(now.count > 500, "only \(now.count) lines were found")
    if ProcessInfo.processInfo.environment["GRANDCENTRAL_WRITE_INTERFACE"] != nil {
      let text = now.sorted().joined(separator: "\n") + "\n"
      try text.write(toFile: Self.file, atomically: true, encoding: .utf8)
    }
    let baseline = Set(
      try String(contentsOfFile: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
    )
    let change = InterfaceChange(from: baseline, to: now)
    #expect(change.isNone, "\(change)")
  }

  @Test func `a removed, an added and a changed declaration is a change`() {
    let old: Set = ["A\tstruct A", "A.run()\tfunc run()"]
    #expect(InterfaceChange(from: old, to: old).isNone)
    let removed = InterfaceChange(from: old, to: ["A\tstruct A"])
    #expect(removed.breaks == ["A.run()\tfunc run()"] && removed.additions == [])
    let added = InterfaceChange(from: ["A\tstruct A"], to: old)
    #expect(added.breaks == [] && added.additions == ["A.run()\tfunc run()"])
    let changed = InterfaceChange(from: old, to: ["A\tstruct A", "A.run()\tfunc run() throws"])
    #expect(!changed.breaks.isEmpty && !changed.additions.isEmpty && !changed.isNone)
  }
}

private struct InterfaceChange: CustomStringConvertible {
  let breaks: [String]
  let additions: [String]

  init(from old: Set<String>, to new: Set<String>) {
    breaks = old.subtracting(new).sorted()
    additions = new.subtracting(old).sorted()
  }

  var isNone: Bool { breaks.isEmpty && additions.isEmpty }

  var description: String {
    """
    The public interface differs from its baseline.
    Gone, so programs may not compile any more:
    \(breaks.joined(separator: "\n"))
    New:
    \(additions.joined(separator: "\n"))
    GRANDCENTRAL_WRITE_INTERFACE=1 scripts/dev test ParityTests.InterfaceTests accepts this.
    """
  }
}
