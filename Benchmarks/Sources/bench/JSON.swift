// The figures of all rounds, as JSON.

import Glibc
import Metrics

enum JSON {
  /// Writes all measurements to `path`. Replaces an existing file.
  static func write(_ measurements: [Measurement], options: Options, to path: String) {
    let rows = measurements.map { "    \(object($0))" }.joined(separator: ",\n")
    let text = """
      {
        "rounds": \(options.rounds),
        "quick": \(options.quick),
        "rows": [
      \(rows)
        ]
      }

      """
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    if descriptor < 0 { fail("cannot write \(path): \(errno)") }
    emit(text, to: descriptor)
    close(descriptor)
  }

  private static func object(_ measurement: Measurement) -> String {
    let reach = Reach.of(measurement.row.name)
    let ours = measurement.distribution(of: .ours)
    let peer = measurement.distribution(of: .peer)
    let libuv = measurement.distribution(of: .libuv)
    let verdict = reach.verdict(of: measurement)
    let judged = verdict == .unjudged ? "null" : "\"\(verdict.rawValue)\""
    let fields = [
      "\"name\": \"\(measurement.row.name)\"",
      "\"unit\": \"\(measurement.row.unit)\"",
      "\"ours\": \(spread(ours))",
      "\"peer\": \(spread(peer))",
      "\"libuv\": \(spread(libuv))",
      "\"ratio\": \(spread(measurement.ratios(to: .peer)))",
      "\"ratioLimit\": \(number(reach.ratio))",
      "\"libuvRatio\": \(spread(measurement.ratios(to: .libuv)))",
      "\"libuvRatioLimit\": \(number(reach.libuv))",
      "\"ceiling\": \(number(reach.ceiling))",
      "\"verdict\": \(judged)",
      "\"oursRounds\": \(numbers(measurement.figures[.ours]))",
      "\"peerRounds\": \(numbers(measurement.figures[.peer]))",
      "\"libuvRounds\": \(numbers(measurement.figures[.libuv]))",
    ]
    return "{" + fields.joined(separator: ", ") + "}"
  }

  private static func spread(_ distribution: Distribution?) -> String {
    guard let distribution else { return "null" }
    let fields = [("median", 0.5), ("p10", 0.1), ("p90", 0.9)].map { name, fraction in
      "\"\(name)\": \(number(distribution.quantile(fraction)))"
    }
    return "{" + fields.joined(separator: ", ") + "}"
  }

  private static func numbers(_ values: [Double]?) -> String {
    "[" + (values ?? []).map { number($0) }.joined(separator: ", ") + "]"
  }

  /// JSON has no infinities.
  private static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "null" }
    return decimal(value, 4)
  }
}
