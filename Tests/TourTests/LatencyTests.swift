// Purpose: tests of the presentation of times: the scale, the text plot and the drawing.

import Testing
import TourKit

@Suite("A scale of times") struct LatencyScaleTests {
  @Test func `begins and ends at powers of ten around all times`() {
    let scale = LatencyScale(for: [
      LatencyRow("a", [25_000, 3_000]), LatencyRow("b", [2_000_001]), LatencyRow("none", []),
    ])
    #expect(scale.ticks == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"])
    #expect(scale.position(of: 1_000) == 0)
    #expect(scale.position(of: 100_000) == 0.5)
    #expect(scale.position(of: 10_000_000) == 1)
    #expect(scale.position(of: 0) == 0)
    #expect(scale.position(of: .max) == 1)
  }

  @Test(
    arguments: [
      ([0], ["1 ns", "10 ns"]), ([1], ["1 ns", "10 ns"]), ([10], ["10 ns", "100 ns"]),
      ([1_000_000_000, 1_000_000_000], ["1 s", "10 s"]), ([], ["1 µs", "10 µs", "100 µs", "1 ms"]),
    ] as [([UInt64], [String])])
  func `has room for any times`(times: [UInt64], ticks: [String]) {
    #expect(LatencyScale(for: [LatencyRow("a", times)]).ticks == ticks)
  }

  @Test func `counts every time once, in its part`() {
    let row = LatencyRow("a", [1000, 1100, 9_999, 10_000, 99_000, 100_000])
    let scale = LatencyScale(for: [row])
    #expect(scale.parts(2, of: row.times) == [3, 3])
    #expect(scale.parts(200, of: row.times).reduce(0, +) == 6)
    #expect(scale.parts(200, of: row.times)[199] == 2)
  }

  @Test(
    arguments: [
      (0, "0 ns"), (999, "999 ns"), (1000, "1.00 µs"), (9_994, "9.99 µs"), (9_996, "10.0 µs"),
      (99_960, "100 µs"), (999_600, "1.00 ms"), (12_345_678, "12.3 ms"), (2_000_000_000, "2.00 s"),
    ] as [(UInt64, String)])
  func `names a time in three digits`(time: UInt64, words: String) {
    #expect(Wording.duration(time) == words)
  }
}

@Suite("A plot of times") struct LatencyPlotTests {
  private let rows = [
    LatencyRow("alone", Array(repeating: 20_000, count: 99) + [5_000_000]),
    LatencyRow("beside a scan", [300_000]),
    LatencyRow("none", []),
  ]

  @Test(arguments: [0, 80, 100, 500])
  func `is a scale and a line for each row, all of one length`(columns: Int) throws {
    let lines = LatencyPlot(rows, levels: Array(".:#"), columns: columns).lines
    #expect(lines.count == 4)
    #expect(Set(lines.map(\.count)).count == 1)
    if columns == 80 || columns == 100 { #expect(lines[0].count <= columns) }
    for tick in ["10 µs", "100 µs", "1 ms", "50 %", "99 %"] { #expect(lines[0].contains(tick)) }
    #expect(lines[1].hasPrefix("alone  "))
    #expect(lines[1].hasSuffix("20.0 µs   20.0 µs"))
  }

  @Test func `is high where many times are, and shows a single one`() {
    let lines = LatencyPlot(rows, levels: Array(".:#"), columns: 80).lines
    #expect(lines[1].filter { "#" == $0 }.count == 1)
    // One mark of the plot, and the decimal points of the two numbers.
    #expect(lines[1].dropFirst(5).filter { "." == $0 }.count == 3)
    let high = lines[1].firstIndex(of: "#")!
    #expect(high < lines[1].lastIndex(of: "|")!)
    #expect(lines[2].filter { "#" == $0 }.count == 1)
    #expect(!lines[3].contains("#"))
  }
}

@Suite("A drawing of times") struct LatencyChartTests {
  private let svg = LatencyChart(
    "Requests & \"inversions\"",
    [
      .init("first", [LatencyRow("a < b", [20_000, 20_000, 900_000]), LatencyRow("none", [])]),
      .init("second", [LatencyRow("longer", [100_000_000])]),
    ]
  ).svg

  @Test func `is well-formed, whatever the titles are`() {
    #expect(WellFormed.fault(in: svg) == nil)
    #expect(svg.contains("Requests &amp; &quot;inversions&quot;"))
    #expect(svg.contains("a &lt; b"))
  }

  @Test func `has a bar for each part of the scale with times, and the figures`() {
    #expect(svg.split(separator: "class=\"bar\"").count - 1 == 3)
    #expect(svg.split(separator: "class=\"mark\"").count - 1 == 2)
    for words in ["20.0 µs", "900 µs", "100 ms", "first", "second", "none"] {
      #expect(svg.contains(">\(words)<"))
    }
  }

  @Test func `has colours for light and for dark`() {
    #expect(svg.contains("prefers-color-scheme: dark"))
    #expect(svg.split(separator: ".ground {").count - 1 == 2)
  }

  @Test(arguments: [
    "", "text", "<a>", "<a></b>", "<a/><b/>", "<a b=c/>", "<a b=\"<\"/>", "<a>&</a>", "<a>&x </a>",
    "<a b=\"1\" b=\"2\"/>", "</a>",
  ])
  func `is held to rules that other text breaks`(text: String) {
    #expect(WellFormed.fault(in: text) != nil)
  }
}
