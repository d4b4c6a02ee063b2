// Purpose: compares a transliterated file with the output of tr(1) by cmp(1), or with a plain loop
// where one of them is missing.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum TrComparison {
  static var hasCommands: Bool { ["sh", "tr", "cmp"].allSatisfy { Spawn.exists($0) } }

  /// Compares with tr(1). `tr` writes into a pipe that `cmp` reads, so its output needs no disk.
  static func agrees(_ rule: Transliteration, _ source: Path, _ result: Path) -> Bool {
    let script = "LC_ALL=C tr \"$1\" \"$2\" < \"$3\" | cmp -s - \"$4\""
    let words =
      [Path("-c"), Path(script), Path("sh"), Path(rule.first), Path(rule.second), source, result]
    return (try? WatchedProgram.run(Spawn("sh", words).quiet).get()) == .exited(0)
  }

  /// Compares with a loop, without commands.
  static func agreesWithLoop(_ rule: Transliteration, _ source: Path, _ result: Path) -> Bool {
    let descriptors = [source, result].map { path in
      path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    }
    defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
    var pieces = [[UInt8]](repeating: [UInt8](repeating: 0, count: 64 << 10), count: 2)
    while true {
      let counts = descriptors.indices.map { index in
        pieces[index].withUnsafeMutableBytes { LoopbackSocket.receiveAll(descriptors[index], $0) }
      }
      guard counts[0] == counts[1], counts[0] >= 0 else { return false }
      if counts[0] == 0 { return true }
      for place in 0..<counts[0] where rule(pieces[0][place]) != pieces[1][place] { return false }
    }
  }
}
