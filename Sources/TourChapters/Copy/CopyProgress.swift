// Purpose: shows the progress of a copy: a bar on a terminal, otherwise a line for each quarter.

import GrandCentral
import TourKit

// SAFETY: every variable is only touched by items of `queue`. Any thread may advance the gauge.
final class CopyProgress: @unchecked Sendable {
  private let report: ChapterReport
  private let gauge: Gauge
  private let line: ProgressLine
  private let files: Int
  private let queue = DispatchQueue(label: "tour.copy.progress")
  private var filesDone = 0
  private var quartersTold = 0

  init(_ report: ChapterReport, files: Int, bytes: Int) {
    self.report = report
    self.files = files
    gauge = Gauge(intervalNanoseconds: report.screen.intervalNanoseconds)
    line = ProgressLine(screen: report.screen, title: "copying", expectedBytes: bytes)
  }

  func moved(_ bytes: Int) {
    if gauge.advance(bytes: bytes) && report.screen.isTerminal {
      queue.async { [self] in line.draw(gauge) }
    }
  }

  func finishedFile() {
    _ = gauge.advance(files: 1)
    queue.async { [self] in
      filesDone += 1
      let quarters = filesDone * 4 / files
      if report.screen.isTerminal || quarters == quartersTold { return }
      quartersTold = quarters
      report.tell(
        "\(Wording.right("\(quarters * 25)", 3)) %  \(Wording.count(filesDone, "file")), "
          + Wording.bytes(gauge.figures.bytes))
    }
  }

  /// Removes the bar from the terminal.
  func end() {
    queue.sync { report.screen.clearLine() }
  }
}
