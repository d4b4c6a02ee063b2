// Purpose: a plot of times by text: a line for each row, as high in each column as many times fell
// there, under one logarithmic scale.
//
//                         10 µs        100 µs       1 ms         10 ms
//   alone                 |   ▂█▅▁     |      ▁     |            |         50 % 14.2 µs   99 % 130
//                         µs

public struct LatencyPlot: Sendable {
  private let rows: [LatencyRow]
  private let scale: LatencyScale
  private let levels: [Character]
  private let columns: Int

  private static let figureWidth = 10

  /// - Parameters:
  ///   - levels: signs for amounts, the least first.
  ///   - columns: how many there are for a line.
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

  /// As many columns as are left, and a few where none are; a decade has room for its name.
  private var width: Int {
    let least = scale.decades * 7
    return max(least, min(60, columns - titleWidth - 2 * Self.figureWidth))
  }

  private func figures(_ half: String, _ most: String) -> String {
    Wording.right(half, Self.figureWidth) + Wording.right(most, Self.figureWidth)
  }

  private var axis: String {
    var axis = ""
    // The end has no room for its name; the reader can count.
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
