// From where items are submitted: on a real program, and as events.
import CGrandCentralLinux
import Glibc
import GrandCentralCore
import GrandCentralInside
import TestSupport
import Testing

@Suite("Origins") struct OriginTests {
  /// Records a scene of the probe at the level `origins`.
  private func recording(_ scene: [String], _ path: String) throws -> Recording {
    record(scene, to: path, ["--origins"])
    return try Recording(path: path)
  }

  private func path(_ name: String) -> String {
    "/tmp/grandcentral-test-\(getpid())-origins-\(name).gcrecord"
  }

  @Test func `name the functions that submitted the item of a finding`() {
    let path = path("report")
    defer { unlink(path) }
    let report = retried(untilFirst: "Long item: ") {
      record(["long-item"], to: path, ["--origins"])
      return runChild([command, "report", path])
    }
    #expect(
      report.output.contains(
        "\n  Submitted by: RecordProbe.ThumbnailCache.rebuildEverything()"), "\(report)")
    #expect(report.output.contains(" < RecordProbe.longItem()"), "\(report)")
    let page = path + ".html"
    defer { unlink(page) }
    let timeline = runChild([command, "timeline", path, "-o", page])
    #expect(timeline.status == 0, "\(timeline)")
    let text = String(decoding: contents(page), as: UTF8.self)
    #expect(text.contains("\"origins\":[[\"RecordProbe.ThumbnailCache."), "\(text.prefix(4000))")
  }

  @Test func `are known for each item, in chunks that change hands, too`() throws {
    let path = path("count")
    defer { unlink(path) }
    // 8,000 items fill several chunks with submissions.
    let recording = try recording(["count", "8000"], path)
    let items = recording.items.filter { $0.submitted != nil }
    #expect(items.count >= 3 * 8000 - 1)
    let unknown = items.count { item in
      item.origin.map { recording.origins[$0].frames.isEmpty } ?? true
    }
    #expect(unknown == 0)
    let texts = Set(
      items.compactMap { $0.origin.map { recording.origins[$0].frames.first ?? "" } })
    #expect(texts.allSatisfy { $0.hasPrefix("RecordProbe.count(") }, "\(texts)")
    #expect(fileSize(path) <= 24 * recording.items.count)
  }

  @Test func `are not recorded at the level of items`() throws {
    let path = path("none")
    defer { unlink(path) }
    record(["count", "10"], to: path)
    let recording = try Recording(path: path)
    #expect(recording.origins.isEmpty && recording.items.allSatisfy { $0.origin == nil })
  }

  @Test func `of a second recording need nothing of the first`() throws {
    let program = Flood()
    for round in 0..<2 {
      let path = path("round\(round)")
      defer { unlink(path) }
      // On a busy machine the program may not run at all for a second.
      var items: [RecordedItem] = []
      for _ in 0..<deadlineSeconds where items.isEmpty {
        let result = runChild(
          [command, "record", "\(program.process)", "--seconds", "1", "--origins", "-o", path])
        #expect(result.status == 0, "\(result)")
        items = try Recording(path: path).items.filter { $0.submitted != nil }
      }
      #expect(!items.isEmpty && items.allSatisfy { $0.origin != nil }, "round \(round)")
    }
  }

  @Test func `are walked within the stack alone`() {
    let bounds = gc_stack_bounds_of_thread()
    var frames = [UInt64](repeating: 0, count: 16)
    withUnsafePointer(to: &frames) { local in
      let here = UInt(bitPattern: local)
      #expect(bounds.low < here && here < bounds.high)
    }
    let found = gc_walk_frames(&frames, 16, bounds)
    #expect(found > 0 && found <= 16)
    let maps = CodeMap.all(of: Int(getpid()))
    for frame in frames.prefix(Int(found)) {
      #expect(maps.contains { $0.first <= frame && frame <= $0.last }, "\(frame)")
    }
    #expect(gc_walk_frames(&frames, 3, bounds) <= 3)
    // On a stack that is not the thread's, as that of a coroutine.
    #expect(gc_walk_frames(&frames, 16, gc_stack_bounds(low: 0, high: 0)) == 0)
    #expect(gc_walk_frames(&frames, 16, gc_stack_bounds(low: 4096, high: 8192)) == 0)
  }
}

/// The probe that floods a queue, until this object ends.
private final class Flood {
  let process: pid_t
  private let input: Int32

  init() {
    let (down, up) = (makePipe(), makePipe())
    process = startChild(["\(buildFolder)/RecordProbe", "hot"], input: down.read, output: up.write)
    close(down.read)
    close(up.write)
    input = down.write
    var byte: UInt8 = 0
    while read(up.read, &byte, 1) == 1 && byte != UInt8(ascii: "\n") {}
    close(up.read)
  }

  deinit {
    close(input)
    _ = waitFor(process)
  }
}
