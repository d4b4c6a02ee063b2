// The verbs record, report and timeline on real programs, and on damaged files.
// Shows contract row X2.
import Glibc
import GrandCentralInside
import TestSupport
import Testing

/// A child with its standard input and output as pipes.
final class PipedChild {
  let process: pid_t
  private let input: Int32
  private let output: Int32

  init(_ arguments: [String]) {
    let (down, up) = (makePipe(), makePipe())
    process = startChild(arguments, input: down.read, output: up.write)
    close(down.read)
    close(up.write)
    input = down.write
    output = up.read
  }

  /// Waits until the child has printed a line. Fails the test when it ends before.
  func waitForLine() {
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 && byte != UInt8(ascii: "\n") {}
    #expect(byte == UInt8(ascii: "\n"))
  }

  func endInput() { close(input) }

  deinit { close(output) }
}

let command = "\(buildFolder)/grandcentral"
private let probe = "\(buildFolder)/RecordProbe"

/// Records the probe's `count`.
func recordCount(_ items: Int, to path: String) { record(["count", "\(items)"], to: path) }

/// Records the probe with arguments.
func record(_ arguments: [String], to path: String, _ options: [String] = []) {
  unlink(path)
  let recorder = PipedChild([command, "record", "-o", path] + options + ["--", probe] + arguments)
  // The probe must not end before its board is found, or nothing would be recorded.
  recorder.waitForLine()
  #expect(eventually { fileSize(path) > RecordingFile.mark.count })
  recorder.endInput()
  let end = waitFor(recorder.process)
  #expect(end.status == 0)
}

/// Records the probe's `count`, and returns the file's path.
private func recordCount(_ items: Int) -> String {
  let path = "/tmp/grandcentral-test-\(getpid())-\(items).gcrecord"
  recordCount(items, to: path)
  return path
}

func fileSize(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

func contents(_ path: String) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: fileSize(path))
  let count = read(descriptor, &bytes, bytes.count)
  return Array(bytes.prefix(max(0, count)))
}

/// Writes the bytes over a file, and returns what the verbs that read recordings say of it.
private func readings(of bytes: [UInt8], at path: String) -> [ChildResult] {
  let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
  #expect(write(file, bytes, bytes.count) == bytes.count)
  close(file)
  return [["report", path], ["timeline", path, "-o", "/dev/null"]].map { runChild([command] + $0) }
}

@Suite("grandcentral record") struct RecordTests {
  @Test func `shows each item once, on its queue`() throws {
    let path = recordCount(5000)
    defer { unlink(path) }
    let recording = try Recording(path: path)
    #expect(recording.lostWords == 0)
    #expect(recording.unstarted == 0)
    for label in ["serial", "shared", "upper"] {
      let items = recording.items.filter { recording.queues[$0.queue].label == label }
      #expect(items.count == 5000, "\(label)")
      #expect(items.allSatisfy { $0.end != nil }, "\(label)")
      #expect(
        items.allSatisfy { item in
          (item.submitted?.time ?? 0) <= item.start && item.start <= (item.end ?? 0)
        }, "\(label)")
    }
    // The board is made after the first submission of the program.
    #expect(recording.items.count { $0.submitted == nil } <= 1)
    #expect(fileSize(path) <= 20 * recording.items.count)
  }

  @Test func `of samples shows one item in 64 of each queue`() throws {
    let path = "/tmp/grandcentral-test-\(getpid())-samples.gcrecord"
    defer { unlink(path) }
    record(["count", "6400"], to: path, ["--sampled"])
    let recording = try Recording(path: path)
    #expect(recording.interval == 64)
    for label in ["serial", "shared", "upper"] {
      let items = recording.items.filter { recording.queues[$0.queue].label == label }
      // One thread submits all of them, and the board is made after the first.
      #expect((99...101).contains(items.count), "\(label): \(items.count)")
      #expect(items.allSatisfy { $0.submitted != nil && $0.end != nil }, "\(label)")
    }
  }

  @Test(arguments: ["items", "origins"])
  func `survives that its threads run out of chunks`(_ level: String) {
    // A byte that marks freed memory.
    let result = runProbe(
      "RecordProbe", "crowd",
      environment: ["GRANDCENTRAL_RECORD": level, "MALLOC_PERTURB_": "165"],
      seconds: 2 * deadlineSeconds)
    #expect(
      result.status == 0 && result.output == "done\n",
      "signal \(result.signal ?? 0): \(result.output)\(result.errors)")
  }

  @Test func `a trace for Perfetto has a flow for each item`() throws {
    let path = recordCount(1000)
    defer { unlink(path) }
    let recording = try Recording(path: path)
    let trace = PerfettoFile(recording).bytes
    #expect(trace.count <= 65 * recording.items.count + 4096)
    let packets = try fields(of: trace[...])
    var begun = Set<UInt64>()
    var ended = Set<UInt64>()
    for packet in packets {
      for event in try fields(of: packet.bytes) where event.number == 11 {
        for field in try fields(of: event.bytes) {
          if field.number == 47 { begun.insert(field.value) }
          if field.number == 48 { ended.insert(field.value) }
        }
      }
    }
    #expect(begun.count == recording.items.count { $0.submitted != nil })
    #expect(begun.count >= 2999)
    #expect(begun == ended)
  }

  @Test(arguments: [[], ["--sampled"]]) func `names the hot queue`(_ options: [String]) {
    let path = "/tmp/grandcentral-test-\(getpid())-hot\(options.count).gcrecord"
    defer { unlink(path) }
    let program = PipedChild([probe, "hot"])
    program.waitForLine()
    func reported() -> String {
      let result = runChild(
        [command, "record", "\(program.process)", "--seconds", "1", "-o", path] + options)
      #expect(result.status == 0, "\(result.errors)")
      return runChild([command, "report", path]).output
    }
    let text = polled(until: { $0.hasPrefix("Hot queue: 'hot' runs items") }, reported)
    #expect(text.hasPrefix("Hot queue: 'hot' runs items"), "\(text)")
    let missing = "\nClosures of sync() are not counted: they run on the calling thread.\n"
    #expect(text.hasSuffix(missing), "\(text)")
    program.endInput()
    #expect(waitFor(program.process).status == 0)
  }

  @Test func `ends as its program does`() {
    func record(_ program: String...) -> ChildResult {
      // A parent that ignores SIGCHLD hides the end of children: wait(2).
      runChild(
        ["env", "--ignore-signal=CHLD", command, "record", "-o", "/dev/null", "--"] + program)
    }
    #expect(record("sh", "-c", "exit 7").status == 7)
    #expect(record("sh", "-c", "kill -TERM $$").signal == SIGTERM)
    #expect(record("/nonexistent").status == 127)
    #expect(record("/dev/null").status == 126)
  }

  @Test func `reads recordings of older formats, and says what reads those of newer ones`() throws {
    let path = recordCount(10)
    defer { unlink(path) }
    var bytes = contents(path)
    let items = try Recording(bytes, path: path).items.count
    let digit = RecordingFile.mark.count - 1
    for format in 1..<RecordingFile.format {
      bytes[digit] = UInt8(ascii: "0") + UInt8(format)
      #expect(try Recording(bytes, path: path).items.count == items)
    }
    // The digit of format 10 is ":".
    for format in [RecordingFile.format + 1, 10] {
      bytes[digit] = UInt8(ascii: "0") + UInt8(format)
      for result in readings(of: bytes, at: path) {
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("newer release: it has format \(format),"), "\(result)")
        #expect(result.errors.contains("reads formats 1 to \(RecordingFile.format)"), "\(result)")
      }
    }
    // No format has the number 0. A file of seven bytes ends before the number.
    bytes[digit] = UInt8(ascii: "0")
    for other in [bytes, Array(bytes.prefix(digit))] {
      for result in readings(of: other, at: path) {
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("is no recording: its first bytes are wrong"), "\(result)")
      }
    }
  }

  @Test(arguments: [[], ["--origins"]])
  func `survives damaged recordings`(_ options: [String]) throws {
    let path = "/tmp/grandcentral-test-\(getpid())-damaged\(options.count).gcrecord"
    record(["count", "200"], to: path, options)
    defer { unlink(path) }
    let whole = contents(path)
    #expect(whole.count > 1000)
    var random = SeededGenerator(for: "damaged recordings")
    // Each round names the code anew.
    for _ in 0..<(options.isEmpty ? 300 : 30) {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let index = Int.random(in: 8..<bytes.count, using: &random)
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count - 8, using: &random))
      let recording = try Recording(bytes, path: path)
      #expect(!Report(recording).text().isEmpty)
      _ = PerfettoFile(recording)
      _ = TimelinePage(Report(recording))
    }
    #expect(throws: InsideError.self) { try Recording(Array("something else".utf8), path: path) }
    #expect(throws: InsideError.self) { try Recording(path: "/dev/zero") }
  }
}

/// A field of a protocol buffer.
private struct Field {
  var number: UInt64
  var value: UInt64 = 0
  var bytes: ArraySlice<UInt8> = []
}

private struct Malformed: Error {}

/// Decodes the fields of a message: numbers, fixed 64-bit numbers, and bytes.
private func fields(of message: ArraySlice<UInt8>) throws -> [Field] {
  var rest = message
  func number() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = rest.popFirst(), shift < 64 {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Malformed()
  }
  var found: [Field] = []
  while !rest.isEmpty {
    let key = try number()
    var field = Field(number: key >> 3)
    switch key & 7 {
    case 0: field.value = try number()
    case 1:
      for index in 0..<UInt64(8) {
        guard let byte = rest.popFirst() else { throw Malformed() }
        field.value |= UInt64(byte) << (8 * index)
      }
    case 2:
      let count = try number()
      guard count <= UInt64(rest.count) else { throw Malformed() }
      field.bytes = rest.prefix(Int(count))
      rest = rest.dropFirst(Int(count))
    default: throw Malformed()
    }
    found.append(field)
  }
  return found
}
