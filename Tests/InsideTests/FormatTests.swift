// Recordings as older releases have written them: see Recordings/README.md.
import Foundation
import GrandCentralInside
import TestSupport
import Testing

private func path(ofFormat format: Int) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Recordings/format-\(format).gcrecord").path
}

@Suite("A stored recording") struct FormatTests {
  @Test(arguments: 1...RecordingFile.format)
  func `of each format is read as it was written`(_ format: Int) throws {
    let recording = try Recording(path: path(ofFormat: format))
    #expect(recording.process == 4711)
    #expect(recording.name == "server")
    #expect(recording.interval == 1)
    #expect(recording.width == 4)
    #expect(recording.lostWords == 17)
    #expect(recording.threads == [21: "gc-worker-0", 22: "gc-worker-1"])
    #expect(recording.queues.map(\.label) == ["uploads", "cache", "late"])
    #expect(recording.queues.map(\.kind) == [.serial, .concurrent, .serial])
    // A tick is a microsecond. The last submission is of an item that does not start.
    #expect(recording.unstarted == 1)
    #expect(recording.items.map(\.queue) == [0, 1, 2])
    #expect(recording.items.map(\.start) == [5_000_200_000, 5_000_310_000, 5_000_410_000])
    #expect(recording.items.map(\.waited) == [100_000, 200_000, 290_000])
    #expect(recording.items.map(\.ran) == [100_000, 90_000, 20_000])
    #expect(recording.items.allSatisfy { $0.thread == 22 && $0.submitted?.thread == 21 })
    #expect(recording.items.map(\.isSourceEvent) == [false, false, true])
    #expect(recording.items.map(\.timerLate) == [nil, nil, 250_000_000])
    let code = recording.items.map { $0.function.map { recording.functions[$0].address } }
    #expect(code == [0x401000, 0x402000, nil])
    let wait = try #require(recording.waits.first)
    #expect(recording.waits.count == 1)
    #expect(wait.kind == .queue && wait.thread == 22 && wait.queue == 1 && wait.held == [0])
    #expect(wait.start == 5_000_210_000 && wait.end == 5_000_250_000)
  }

  @Test(arguments: 2...RecordingFile.format)
  func `has stacks from format 2 on`(_ format: Int) throws {
    #expect(try Recording(path: path(ofFormat: 1)).origins.isEmpty)
    let recording = try Recording(path: path(ofFormat: format))
    #expect(recording.origins.map(\.addresses) == [[0x401010, 0x402020], [0x403030]])
    #expect(recording.items.map(\.origin) == [0, 0, 0])
  }

  @Test func `has the closure behind a thunk from format 3 on`() throws {
    for format in 1..<3 {
      #expect(try Recording(path: path(ofFormat: format)).functions.allSatisfy { $0.captured == 0 })
    }
    for format in 3...RecordingFile.format {
      let recording = try Recording(path: path(ofFormat: format))
      let item = try #require(recording.items[1].function)
      #expect(recording.functions[item].address == 0x402000)
      #expect(recording.functions[item].captured == 0x404000)
    }
  }

  @Test(arguments: 1...RecordingFile.format)
  func `of each format has a report and a timeline`(_ format: Int) {
    let file = path(ofFormat: format)
    let report = runChild([command, "report", file])
    // The timer is late by a quarter of a second, and no item ran for so long.
    #expect(report.status == 0, "\(report)")
    for label in ["uploads", "cache", "late"] {
      #expect(report.output.contains(label), "\(report)")
    }
    for options in [["-o", "/dev/null"], ["--perfetto", "/dev/null"]] {
      let result = runChild([command, "timeline", file] + options)
      #expect(result.status == 0, "\(result)")
    }
  }
}
