// The page that `timeline -o` writes: it is whole, asks for nothing, and its numbers are those of
// the recording. scripts/dev timeline drives it in a browser.
import Glibc
import GrandCentralCore
import GrandCentralInside
import TestSupport
import Testing

/// A recording without a file: items of random times, on three queues and four threads.
private func randomRecording(_ count: Int, using random: inout SeededGenerator) throws -> Recording
{
  var recording = try Recording(RecordingFile.mark, path: "none")
  recording.name = "</script><b>&"
  recording.start = 1_000_000
  recording.queues = ["one", "</script>", "three"].map { RecordedQueue(label: $0, kind: .serial) }
  recording.functions = [RecordedFunction(address: 16, text: "main.parse()")]
  var time = recording.start
  for number in 0..<count {
    time += UInt64.random(in: 0...5000, using: &random)
    let isSubmitted = Int.random(in: 0..<20, using: &random) > 0
    let submit = time - UInt64.random(in: 0...(time - recording.start), using: &random)
    let length = UInt64.random(in: 0...100_000, using: &random)
    recording.items.append(
      RecordedItem(
        queue: Int.random(in: 0..<3, using: &random),
        submitted: isSubmitted ? (submit, UInt32.random(in: 7...10, using: &random)) : nil,
        start: time, end: number % 50 == 49 ? nil : time + length,
        thread: UInt32.random(in: 7...10, using: &random),
        function: Bool.random(using: &random) ? 0 : nil))
  }
  recording.end = time + 200_000
  recording.waits = [
    RecordedWait(kind: .group, thread: 8, queue: 2, start: recording.start + 5, end: time)
  ]
  return recording
}

/// The text between two marks of the page.
private func part(of page: String, from begin: String, to end: String) throws -> String {
  let first = try #require(page.range(of: begin))
  let last = try #require(page[first.upperBound...].range(of: end))
  return String(page[first.upperBound..<last.lowerBound])
}

extension StringProtocol {
  /// The first place of a text, without Foundation.
  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}

private func bytes(base64 text: String) throws -> [UInt8] {
  let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  let values = Dictionary(uniqueKeysWithValues: zip(letters, UInt32(0)...))
  var out: [UInt8] = []
  var (group, bits): (UInt32, UInt32) = (0, 0)
  for letter in text.utf8 where letter != UInt8(ascii: "=") {
    group = group << 6 | (try #require(values[letter]))
    bits += 6
    if bits >= 8 {
      bits -= 8
      out.append(UInt8(truncatingIfNeeded: group >> bits))
    }
  }
  return out
}

/// Reads the numbers of the page, as data.js does.
private struct Numbers {
  let bytes: [UInt8]
  var at = 0

  mutating func next() throws -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try #require(bytes.indices.contains(at) ? bytes[at] : nil)
      at += 1
      value |= UInt64(byte & 127) << shift
      if byte < 128 { break }
    }
    return value
  }

  mutating func signed() throws -> Int64 {
    let value = try next()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

@Suite("The page of a timeline") struct TimelineTests {
  @Test func `has each item and wait of the recording`() throws {
    var random = SeededGenerator(for: "pages")
    let recording = try randomRecording(2000, using: &random)
    let page = String(decoding: TimelinePage(Report(recording)).bytes, as: UTF8.self)
    let text = try part(of: page, from: "id=\"items\">", to: "</script>")
    var numbers = Numbers(bytes: try bytes(base64: text))
    var threadEnd = [Int64](repeating: 0, count: 4)
    var threadQueue = [UInt64](repeating: 0, count: 4)
    var last = [(submit: Int64, submitter: UInt64, code: UInt64)](repeating: (0, 0, 0), count: 3)
    for item in recording.items {
      let head = try numbers.next()
      let thread = Int(head >> 4)
      #expect(thread == Int(item.thread) - 7)
      if head & 2 != 0 { threadQueue[thread] = try numbers.next() }
      let queue = Int(threadQueue[thread])
      #expect(queue == item.queue)
      if head & 4 != 0 { last[queue].submitter = try numbers.next() }
      if head & 8 != 0 { last[queue].code = try numbers.next() }
      #expect(last[queue].code == (item.function == nil ? 0 : 1))
      let start = threadEnd[thread] + (try numbers.signed())
      #expect(start == Int64(item.start - recording.start))
      let length = try numbers.next()
      #expect(length == item.end.map { $0 - item.start + 1 } ?? 0)
      threadEnd[thread] = start + max(0, Int64(length) - 1)
      #expect((head & 1 != 0) == (item.submitted == nil))
      guard let submitted = item.submitted else { continue }
      last[queue].submit += try numbers.signed()
      #expect(last[queue].submit == Int64(submitted.time - recording.start))
      #expect(last[queue].submitter == UInt64(submitted.thread) - 7)
    }
    let wait = try (0..<5).map { _ in try numbers.next() }
    let length = (recording.waits[0].end ?? 0) - recording.waits[0].start
    #expect(wait == [1, UInt64(BoardWaitKind.group.rawValue), 3, 5, length])
    #expect(numbers.at == numbers.bytes.count)
  }

  @Test func `is one file that asks for nothing, whatever the names are`() throws {
    var random = SeededGenerator(for: "page names")
    let recording = try randomRecording(10, using: &random)
    let page = String(decoding: TimelinePage(Report(recording)).bytes, as: UTF8.self)
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    #expect(!page.contains("http:") && !page.contains("https:") && !page.contains("src="))
    #expect(!page.contains("/*STYLE*/") && !page.contains("/*SCRIPT*/"))
    // Names of the program end no element: the page has its own three scripts.
    #expect(page.ranges(of: "</script>").count == 3)
    let about = try part(of: page, from: "id=\"about\">", to: "</script>")
    #expect(about.contains("\\u003c/script>") && about.contains("main.parse()"))
  }

  @Test func `takes at most 15 bytes an item`() throws {
    let path = "/tmp/grandcentral-test-\(getpid())-page.gcrecord"
    let output = "/tmp/grandcentral-test-\(getpid())-page.html"
    defer {
      unlink(path)
      unlink(output)
    }
    recordCount(10_000, to: path)
    let result = runChild([command, "timeline", path, "-o", output])
    #expect(result.status == 0, "\(result)")
    let size = contents(output).count
    let items = try Recording(path: path).items.count
    let frame = TimelinePage(Report(try Recording(RecordingFile.mark, path: "none"))).bytes.count
    #expect(items >= 30_000 && size - frame <= 15 * items, "\(size) \(frame) \(items)")
  }

  @Test func `says what is missing`() {
    #expect(runChild([command, "timeline", "/nonexistent"]).status == 64)
    #expect(runChild([command, "timeline", "/nonexistent", "-o"]).status == 64)
    let result = runChild([command, "timeline", "/nonexistent", "-o", "/dev/null"])
    #expect(result.status == 2 && result.errors.contains("No such file"), "\(result)")
  }
}
