// Purpose: formats the table of the engines' results.

import TourKit

/// All runs of one engine.
struct EngineRuns {
  let engine: Engine
  var costs: [Costs] = []

  var medianSeconds: Double {
    let sorted = costs.map(\.seconds).sorted()
    let middle = sorted.count / 2
    if sorted.isEmpty { return 0 }
    return sorted.count.isMultiple(of: 2)
      ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  var bestSeconds: Double { costs.map(\.seconds).min() ?? 0 }
  var processorSeconds: Double { costs.map(\.processorSeconds).min() ?? 0 }
  var peakThreads: Int { costs.map(\.peakThreads).max() ?? 0 }
  var peakMemoryBytes: Int { costs.map(\.peakMemoryBytes).max() ?? 0 }
}

struct ResultTable {
  let runs: [EngineRuns]
  let screen: Screen

  private static let headings = [
    "", "median", "best", "speed-up", "cpu time", "threads", "memory",
  ]
  private static let widths = [20, 10, 10, 10, 10, 9, 10]

  var text: String {
    let serial = runs.first { $0.engine == .serial }?.medianSeconds ?? 0
    var lines = [screen.bold(row(Self.headings))]
    for run in runs {
      let speedUp = serial / max(run.medianSeconds, 1e-9)
      let line = row([
        run.engine.title, Wording.seconds(run.medianSeconds), Wording.seconds(run.bestSeconds),
        Wording.decimal(speedUp, places: 2) + "x",
        Wording.seconds(run.processorSeconds), "\(run.peakThreads)",
        Wording.bytes(run.peakMemoryBytes),
      ])
      lines.append(run.engine == .grandCentral ? screen.green(line) : line)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func row(_ cells: [String]) -> String {
    var line = "  " + Wording.left(cells[0], Self.widths[0])
    for (cell, width) in zip(cells, Self.widths).dropFirst() {
      line += Wording.right(cell, width)
    }
    return line
  }
}
