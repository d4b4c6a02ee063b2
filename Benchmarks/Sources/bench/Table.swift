// The aligned table. Each line is printed as soon as it is measured.

import Metrics

struct Table {
  private let nameWidth: Int
  /// Whether any row has a figure of libuv's.
  private let hasLibuv: Bool
  private static let widths = [8, 11, 11, 7, 15, 17, 11, 7, 15, 7]

  init(rows: [Workload.Row], hasLibuv: Bool) {
    nameWidth = max(8, rows.map(\.name.count).max() ?? 0)
    self.hasLibuv = hasLibuv
  }

  var header: String {
    var titles = ["unit", "ours", "peer", "ratio", "p10…p90", "reach"]
    if hasLibuv { titles += ["libuv", "ratio", "p10…p90", "reach"] }
    let line = padded("workload", nameWidth) + cells(titles) + "  verdict\n"
    return line + String(repeating: "-", count: line.count - 1) + "\n"
  }

  func line(_ measurement: Measurement) -> String {
    let reach = Reach.of(measurement.row.name)
    let figures = [Engine.ours, .peer, .libuv].map {
      figureText(measurement.distribution(of: $0)?.median)
    }
    var columns = [measurement.row.unit, figures[0], figures[1]]
    columns += ratioTexts(measurement.ratios(to: .peer)) + [reach.text]
    if hasLibuv {
      columns += [figures[2]] + ratioTexts(measurement.ratios(to: .libuv)) + [reach.libuvText]
    }
    let verdict = reach.verdict(of: measurement)
    return padded(measurement.row.name, nameWidth) + cells(columns) + "  \(verdict.rawValue)\n"
  }

  private func ratioTexts(_ ratios: Distribution?) -> [String] {
    guard let ratios else { return ["-", "-"] }
    let spread = "\(ratioText(ratios.quantile(0.1)))…\(ratioText(ratios.quantile(0.9)))"
    return [ratioText(ratios.median), spread]
  }

  /// A line for `--list`.
  func listing(_ row: Workload.Row) -> String {
    let reach = Reach.of(row.name)
    let libuv = reach.libuv == nil ? "" : ", libuv \(reach.libuvText)"
    return padded(row.name, nameWidth) + "  " + padded(row.unit, 9) + reach.text + libuv + "\n"
  }

  private func cells(_ texts: [String]) -> String {
    zip(texts, Self.widths).map { text, width in
      " " + String(repeating: " ", count: max(0, width - text.count)) + text
    }.joined()
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

/// A figure with about three significant digits.
func figureText(_ value: Double?) -> String {
  guard let value else { return "-" }
  return decimal(value, value < 10 ? 2 : value < 1_000 ? 1 : 0)
}

func ratioText(_ value: Double) -> String {
  decimal(value, value < 0.1 ? 3 : 2)
}

/// `value` with a fixed number of decimals.
func decimal(_ value: Double, _ places: Int) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return value < 0 ? "-inf" : "inf" }
  let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
  let units = Int((abs(value) * Double(scale)).rounded())
  let sign = value < 0 && units > 0 ? "-" : ""
  if places == 0 { return "\(sign)\(units)" }
  let fraction = String(units % scale)
  return "\(sign)\(units / scale)."
    + String(repeating: "0", count: places - fraction.count) + fraction
}
