// What `report` finds in recordings of programs that are slow for one reason each, and that it
// finds nothing in those of healthy ones.
import Glibc
import GrandCentralCore
import GrandCentralInside
import TestSupport
import Testing

/// Records a scene of the probe until `report` prints what is expected. Returns what it prints.
private func report(
  on scene: String, _ options: [String] = [], until isExpected: (ChildResult) -> Bool
) -> ChildResult {
  // Tests run at the same time, some of them on the same scene.
  let path = "/tmp/grandcentral-test-\(getpid())-\(scene)\(options.joined()).gcrecord"
  defer { unlink(path) }
  return retried(until: isExpected) {
    record([scene], to: path)
    return runChild([command, "report", path] + options)
  }
}

private struct Scene: CustomTestStringConvertible, Sendable {
  let name: String
  /// A pattern of the first line.
  let first: String
  /// What names the item.
  let item: String
  var testDescription: String { name }
}

private let scenes = [
  Scene(
    name: "long-item",
    first:
      #"Long item: queue 'thumbnails\.cache' runs one item for \S+ m?s while \d+ items wait\."#,
    item: "(closure #1 in RecordProbe.ThumbnailCache.rebuildEverything()"),
  Scene(
    name: "explosion",
    first:
      #"Thread explosion: \d+ threads are inside of items at \S+ s; the pool's width is \d+\."#,
    item: "× queue 'crawler.pages' (closure #1 in RecordProbe.explosion()"),
  Scene(
    name: "inversion",
    first:
      #"Inversion: thread \d+ '.*' of class user-initiated in sync\(\) waits \S+ m?s in queue "#
      + "'database' behind an item of class background\\.",
    item: "an item (closure #1 in RecordProbe.inversion()"),
  Scene(
    name: "late-timer",
    first:
      #"Late timer: a timer of queue 'exports' runs its handler \S+ m?s after its time\."#,
    item: "Before it ran: an item (closure #2 in RecordProbe.lateTimer()"),
  Scene(
    name: "starved-source",
    first:
      #"Starved source: an event of a source of queue 'connection' waits \S+ m?s for its "#
      + "handler\\.",
    item: "Before it ran: an item (closure #2 in RecordProbe.starvedSource()"),
  Scene(
    name: "lock-order",
    first:
      #"Possible deadlock: threads enter the queues 'account\.[ab]', 'account\.[ab]' by "#
      + #"sync\(\) in different orders\."#,
    item: "an item (closure #2 in transfer"),
]

@Suite("Findings of grandcentral report") struct FindingTests {
  @Test(arguments: scenes.indices) func `name the reason first, and the item`(_ index: Int) throws {
    let scene = scenes[index]
    let first = try Regex(scene.first)
    func hasFirstLine(_ result: ChildResult) -> Bool {
      (result.lines.first ?? "").wholeMatch(of: first) != nil
    }
    let result = report(on: scene.name, until: hasFirstLine)
    #expect(hasFirstLine(result), "\(result)")
    #expect(result.output.contains(scene.item), "\(result)")
    #expect(result.output.contains(/thread \d+/) || scene.name == "explosion", "\(result)")
    #expect(result.status == 1)
  }

  @Test func `of one queue hide none of another one with its label`() throws {
    var recording = try Recording(RecordingFile.mark, path: "none")
    recording.queues = (0..<2).map { _ in RecordedQueue(label: "worker", kind: .serial) }
    recording.end = 1_000_000_000
    // In the first queue an urgent item waits behind one that is not, in the second one behind its
    // like.
    for (queue, band) in [(0, UInt8(1)), (1, 4)] {
      var long = RecordedItem(
        queue: queue, submitted: nil, start: 1000, end: 500_000_000, thread: UInt32(queue))
      long.band = band
      recording.items.append(long)
    }
    for queue in 0..<2 {
      var waiting = RecordedItem(
        queue: queue, submitted: (2000, 7), start: 500_000_000, end: 500_000_001,
        thread: UInt32(queue))
      waiting.band = 4
      recording.items.append(waiting)
    }
    let findings = Report(recording).findings
    #expect(findings.map(\.kind) == [.inversion, .longItem])
    #expect(findings.map(\.queueIndex) == [0, 1])
  }

  @Test(arguments: ["service", "count"]) func `are none in a healthy program`(_ scene: String) {
    let path = "/tmp/grandcentral-test-\(getpid())-healthy-\(scene).gcrecord"
    defer { unlink(path) }
    // A machine with much other load may hold up a healthy program for long, now and then.
    let line = "Nothing in the recording limits the program."
    let result = retried(untilFirst: line) {
      record([scene, "2000"], to: path)
      return runChild([command, "report", path])
    }
    #expect(result.output.hasPrefix(line), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `come as JSON, too`() {
    let finding =
      "\"findings\":[{\"kind\":\"long-item\",\"queue\":\"thumbnails.cache\",\"headline\":\"Long"
    let result = report(on: "long-item", ["--json"], until: { $0.output.contains(finding) })
    #expect(result.output.contains(finding), "\(result)")
    #expect(result.output.contains("rebuildEverything() (Scenes.swift:"), "\(result)")
  }
}

@Suite("Names of code") struct CodeNameTests {
  @Test(arguments: [
    ("main", "main"),
    ("$s4main5CacheC5storeyyFyycfU_", "closure #1 in main.Cache.store()"),
    ("$s4main5CacheC5storeyyFyycfU_TA", "closure #1 in main.Cache.store()"),
    ("__save_records_block_invoke_2", "block in save_records"),
    ("$s\u{1b}[31m", "$s?[31m"),
  ])
  func `are those of the source`(_ symbol: String, _ name: String) {
    #expect(CodeNames.readable(symbol) == name)
  }

  @Test func `come from the symbols of this program`() throws {
    let address = UInt64(UInt(bitPattern: unsafeBitCast(probeFunction, to: UnsafeRawPointer.self)))
    let maps = CodeMap.all(of: Int(getpid()))
    let name = try #require(CodeNames.names(of: [address], in: maps)[address]?.text)
    #expect(name.contains("closure #1 in"), "\(name)")
    #expect(CodeNames.names(of: [16], in: maps).isEmpty)
  }

  @Test func `end on any damage of a file`() throws {
    var random = SeededGenerator(for: "damaged symbol files")
    let whole = try #require(readBytes("\(buildFolder)/HangProbe"))
    for _ in 0..<40 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        // The header and the tables at both ends.
        let near = Int.random(in: 0..<64, using: &random)
        let index = Bool.random(using: &random) ? near : bytes.count - 1 - near * 40
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      }
      let file = SymbolFile(bytes)
      for _ in 0..<20 {
        let address = UInt64.random(in: 0...(1 << 24), using: &random)
        _ = file.function(at: address)
        _ = file.closure(behind: address)
        _ = file.address(ofOffset: address)
      }
    }
  }
}

private let probeFunction: @convention(c) () -> Void = {}
