// Purpose: real clients that send a file and store the answer: netcat, or bash where it is missing.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum FileClient: String {
  case netcat = "nc"
  case bash

  /// Returns the best client on this machine; nil if there is none.
  static func available() -> FileClient? {
    // Only OpenBSD's netcat is known to have -N: end the sending half after standard input.
    if Spawn.exists("nc") && Self.isOpenBSD() { return .netcat }
    return Spawn.exists("bash") ? .bash : nil
  }

  private static func isOpenBSD() -> Bool {
    let look = Spawn("sh", ["-c", "nc -h 2>&1 | grep -q OpenBSD"].map { Path($0) }).quiet
    return (try? WatchedProgram.run(look).get()) == .exited(0)
  }

  /// The command that sends `file` to `port` and writes the answer to `copy`.
  func spawn(_ file: EchoFile, port: UInt16, copy: Path) -> Spawn {
    switch self {
    case .netcat:
      return Spawn("nc", ["-N", "127.0.0.1", "\(port)"].map { Path($0) })
        .reading(file.path).writing(to: copy)
    case .bash:
      // A shell cannot end one half of a connection, so it needs the length of the answer. A
      // background command would not have the shell's standard input, hence descriptor 4.
      let script =
        "exec 3<>/dev/tcp/127.0.0.1/$1 4<&0 || exit; cat <&4 >&3 & head -c $2 <&3; code=$?; "
        + "wait; exit $code"
      let words = ["-c", script, "bash", "\(port)", "\(file.count)"]
      return Spawn("bash", words.map { Path($0) }).reading(file.path).writing(to: copy)
    }
  }

  /// Returns for each pair whether both files hold the same bytes, by cmp(1) where it exists.
  static func areSame(_ pairs: [(Path, Path)]) -> [Bool] {
    if Spawn.exists("cmp") {
      let commands = pairs.map { Spawn("cmp", [Path("-s"), Path("--"), $0, $1]).quiet }
      return WatchedProgram.run(commands).map { (try? $0.get()) == .exited(0) }
    }
    return pairs.map { first, second in
      guard case .done(let sum, let count) = checksumFile(first, afterPiece: { _ in true }),
        case .done(let otherSum, let otherCount) = checksumFile(second, afterPiece: { _ in true })
      else { return false }
      return (sum, count) == (otherSum, otherCount)
    }
  }
}
