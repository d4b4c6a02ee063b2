// Purpose: draws the latency plot as SVG that is readable in light and dark mode: text and lines
// take the colours of the reader's preference.

public struct LatencyChart: Sendable {
  public struct Section: Sendable {
    public let title: String
    public let rows: [LatencyRow]

    public init(_ title: String, _ rows: [LatencyRow]) {
      self.title = title
      self.rows = rows
    }
  }

  private let title: String
  private let sections: [Section]

  public init(_ title: String, _ sections: [Section]) {
    self.title = title
    self.sections = sections
  }

  // In user units of the drawing, which are pixels at its natural size.
  private static let width = 960
  private static let plotLeft = 300
  private static let plotWidth = 480
  private static let rowHeight = 34
  private static let barWidth = 4
  private static let sectionHead = 62
  private static let head = 48

  private var height: Int {
    Self.head + sections.reduce(16) { $0 + Self.sectionHead + Self.rowHeight * $1.rows.count + 16 }
  }

  public var svg: String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" \
      width="\(Self.width)" height="\(height)" role="img" aria-label="\(Self.escaped(title))">
      <style>
        .ground { fill: #ffffff; }
        text { fill: #1f2328; font: 13px system-ui, sans-serif; }
        .title { font-size: 17px; font-weight: 600; }
        .head { font-weight: 600; }
        .dim { fill: #59636e; font-size: 11px; }
        .figure { text-anchor: end; font-variant-numeric: tabular-nums; }
        .tick { text-anchor: middle; }
        .grid { stroke: #d1d9e0; stroke-width: 1; }
        .bar { fill: #0969da; }
        .mark { stroke: #bc4c00; stroke-width: 2; }
        @media (prefers-color-scheme: dark) {
          .ground { fill: #0d1117; }
          text { fill: #f0f6fc; }
          .dim { fill: #9198a1; }
          .grid { stroke: #3d444d; }
          .bar { fill: #58a6ff; }
          .mark { stroke: #f0883e; }
        }
      </style>
      <rect class="ground" width="100%" height="100%"/>
      <text class="title" x="20" y="32">\(Self.escaped(title))</text>

      """
    var top = Self.head
    for section in sections {
      text += draw(section, top)
      top += Self.sectionHead + Self.rowHeight * section.rows.count + 16
    }
    return text + "</svg>\n"
  }

  private func draw(_ section: Section, _ top: Int) -> String {
    let scale = LatencyScale(for: section.rows)
    let rowsTop = top + Self.sectionHead
    let bottom = rowsTop + Self.rowHeight * section.rows.count
    var text =
      "<text class=\"head\" x=\"20\" y=\"\(top + 22)\">\(Self.escaped(section.title))</text>\n"
    for (step, tick) in scale.ticks.enumerated() {
      let x = Self.plotLeft + Self.plotWidth * step / scale.decades
      text += """
        <line class="grid" x1="\(x)" y1="\(rowsTop)" x2="\(x)" y2="\(bottom)"/>
        <text class="dim tick" x="\(x)" y="\(rowsTop - 8)">\(tick)</text>

        """
    }
    for (name, x) in [("50 %", 870), ("99 %", 940)] {
      text += "<text class=\"dim figure\" x=\"\(x)\" y=\"\(rowsTop - 8)\">\(name)</text>\n"
    }
    for (index, row) in section.rows.enumerated() {
      text += draw(row, scale, rowsTop + Self.rowHeight * (index + 1))
    }
    return text
  }

  /// Draws a row with its base line at `y`.
  private func draw(_ row: LatencyRow, _ scale: LatencyScale, _ y: Int) -> String {
    let parts = scale.parts(Self.plotWidth / Self.barWidth, of: row.times)
    let most = max(1, parts.max() ?? 0)
    let tallest = Double(Self.rowHeight - 8)
    let (half, long) = (row.times.nanoseconds(at: 0.5), row.times.nanoseconds(at: 0.99))
    var text = """
      <text x="20" y="\(y - 8)">\(Self.escaped(row.title))</text>
      <line class="grid" x1="\(Self.plotLeft)" y1="\(y)" x2="\(Self.plotLeft + Self.plotWidth)" \
      y2="\(y)"/>

      """
    for (index, count) in parts.enumerated() where count > 0 {
      let height = Wording.decimal(max(2, tallest * Double(count) / Double(most)), places: 1)
      let up = Wording.decimal(
        Double(y) - max(2, tallest * Double(count) / Double(most)), places: 1)
      text += """
        <rect class="bar" x="\(Self.plotLeft + index * Self.barWidth)" y="\(up)" \
        width="\(Self.barWidth - 1)" height="\(height)"/>

        """
    }
    if row.times.count > 0 {
      let x = Self.plotLeft + Int(scale.position(of: long) * Double(Self.plotWidth))
      text += """
        <line class="mark" x1="\(x)" y1="\(y - Self.rowHeight + 6)" x2="\(x)" y2="\(y)"/>
        <text class="figure" x="870" y="\(y - 8)">\(Wording.duration(half))</text>
        <text class="figure" x="940" y="\(y - 8)">\(Wording.duration(long))</text>

        """
    }
    return text
  }

  /// Escapes `text` for an element or an attribute.
  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
