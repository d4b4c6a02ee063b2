// The aligned table, a line as soon as it is measured.

import Metrics

struct Table {
  private let nameWidth: Int
  private static let widths = [8, 11, 11, 7, 15, 17]

  init(rows: [Workload.Row]) {
    nameWidth = max(8, rows.map(\.name.count).max() ?? 0)
  }

  var header: String {
    let titles = ["unit", "ours", "peer", "ratio", "p10…p90", "reach"]
    let line = padded("workload", nameWidth) + cells(titles) + "  verdict\n"
    return line + String(repeating: "-", count: line.count - 1) + "\n"
  }

  func line(_ measurement: Measurement) -> String {
    let reach = Reach.of(measurement.row.name)
    let ours = measurement.distribution(of: .ours)?.median
    let peer = measurement.distribution(of: .peer)?.median
    let ratios = measurement.ratios
    let spread = ratios.map { "\(ratioText($0.quantile(0.1)))…\(ratioText($0.quantile(0.9)))" }
    let columns = [
      measurement.row.unit, figureText(ours), figureText(peer),
      ratios.map { ratioText($0.median) } ?? "-", spread ?? "-", reach.text,
    ]
    let verdict = reach.verdict(of: measurement)
    return padded(measurement.row.name, nameWidth) + cells(columns) + "  \(verdict.rawValue)\n"
  }

  /// A line for `--list`.
  func listing(_ row: Workload.Row) -> String {
    padded(row.name, nameWidth) + "  " + padded(row.unit, 8) + Reach.of(row.name).text + "\n"
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

/// Three digits that count, or thereabouts.
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
