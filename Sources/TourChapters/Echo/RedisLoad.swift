// Purpose: a load generator that others wrote. redis-benchmark, of Debian's redis-tools, sends
// commands as arrays of strings and takes any well-formed value for the answer, so an echo server
// satisfies it: what it sent is such an array. It does not compare bytes, but a lost or torn one
// leaves it hanging.

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

  /// The bytes of all commands together, as the protocol of Redis frames them.
  var bytes: Int {
    messages * "*2\r\n$4\r\nECHO\r\n$\(Self.text.count)\r\n\(Self.text)\r\n".utf8.count
  }

  /// Runs it; what it printed, or what went wrong.
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

    /// Reads its table, a line of headings and one of values, each in quotes.
    init?(csv: String) {
      let lines = csv.split(separator: "\n").map { line in
        // None of these values has a comma in it; the command that was sent stands first.
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
