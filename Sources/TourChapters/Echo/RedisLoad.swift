// Purpose: an independent load generator, redis-benchmark of Debian's redis-tools. It sends
// commands as arrays of strings and accepts any well-formed value as an answer, so an echo of the
// command satisfies it. It does not compare bytes, but it hangs if an answer is incomplete.

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct RedisLoad {
  let port: UInt16
  let connections: Int
  let messages: Int

  static let command = "redis-benchmark"
  private static let text = "the quick brown fox jumps over the lazy dog"

  /// The length of all commands together in the Redis protocol, in bytes.
  var bytes: Int {
    messages * "*2\r\n$4\r\nECHO\r\n$\(Self.text.count)\r\n\(Self.text)\r\n".utf8.count
  }

  /// Runs redis-benchmark and parses its output.
  func run(in folder: Path) -> Result<Figures, FileFault> {
    let file = folder.appending("redis-benchmark.csv")
    let words = [
      "-h", "127.0.0.1", "-p", "\(port)", "-c", "\(connections)", "-n", "\(messages)", "--csv",
      "ECHO", Self.text,
    ]
    let spawn = Spawn(Self.command, words.map { Path($0) }).quiet.writing(to: file)
    let ending = WatchedProgram.run(spawn)
    guard (try? ending.get()) == .exited(0), let figures = Figures(csv: textOf(file)) else {
      return .failure(FileFault(path: Path(Self.command), code: EIO))
    }
    return .success(figures)
  }

  /// What redis-benchmark measured.
  struct Figures: Equatable {
    let perSecond: Double
    let halfMilliseconds: Double
    let maxMilliseconds: Double

    /// Parses the output: a line of headings and a line of values, each in quotes.
    init?(csv: String) {
      let lines = csv.split(separator: "\n").map { line in
        // None of these values contains a comma. The command that was sent comes first.
        line.split(separator: ",").map { $0.filter { $0 != "\"" && $0 != "\r" } }
      }
      guard let headings = lines.first(where: { $0.contains("rps") }), let values = lines.last,
        values.count == headings.count
      else { return nil }
      func value(_ name: String) -> Double? {
        headings.firstIndex(of: name).flatMap { Double(values[$0]) }
      }
      guard let perSecond = value("rps"), let half = value("p50_latency_ms"),
        let most = value("p99_latency_ms")
      else { return nil }
      self.perSecond = perSecond
      halfMilliseconds = half
      maxMilliseconds = most
    }
  }
}
