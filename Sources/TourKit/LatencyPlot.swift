// Purpose: plots times as text. Each row is a line with a column for each range of times; its
// height shows how many times fall there. All rows share a logarithmic scale.
//
//                         10 µs        100 µs       1 ms         10 ms
//   alone                 |   ▂█▅▁     |      ▁     |            |     50 % 14.2 µs   99 % 130 µs

public struct LatencyPlot: Sendable {
  private let rows: [LatencyRow]
  private let scale: LatencyScale
  private let levels: [Character]
  private let columns: Int

  private static let figureWidth = 10

  /// - Parameters:
  ///   - rows: the rows, from top to bottom.
  ///   - levels: characters for amounts, lowest first.
  ///   - columns: the width of a line, in characters.
  public init(_ rows: [LatencyRow], levels: [Character], columns: Int) {
    self.rows = rows
    self.levels = levels
    self.columns = columns
    scale = LatencyScale(for: rows)
  }

  /// The scale, then a line for each row.
  public var lines: [String] {
    [Wording.left("", titleWidth) + axis + figures("50 %", "99 %")]
      + rows.map { row in
        Wording.left(row.title, titleWidth) + curve(row.times)
          + figures(
            Wording.duration(row.times.nanoseconds(at: 0.5)),
            Wording.duration(row.times.nanoseconds(at: 0.99)))
      }
  }

  private var titleWidth: Int { (rows.map(\.title.count).max() ?? 0) + 2 }

  /// The remaining columns, at most 60, but at least 7 per decade, so that each label fits.
  private var width: Int {
    let least = scale.decades * 7
    return max(least, min(60, columns - titleWidth - 2 * Self.figureWidth))
  }

  private func figures(_ half: String, _ most: String) -> String {
    Wording.right(half, Self.figureWidth) + Wording.right(most, Self.figureWidth)
  }

  private var axis: String {
    var axis = ""
    // The label of the scale's end does not fit.
    for (step, tick) in scale.ticks.dropLast().enumerated() {
      axis = Wording.left(axis, step * width / scale.decades) + tick
    }
    return Wording.left(axis, width)
  }

  private func curve(_ times: Percentiles) -> String {
    let parts = scale.parts(width, of: times)
    let most = parts.max() ?? 0
    return String(
      parts.enumerated().map { column, count in
        if count > 0 { return levels[(levels.count - 1) * count / max(1, most)] }
        let isTick = (0..<scale.decades).contains { $0 * width / scale.decades == column }
        return isTick ? "|" : " "
      })
  }
}
