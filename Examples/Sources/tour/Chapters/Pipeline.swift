// Chapter 5: a long file through channels. Its bytes are read, changed and written, as tr does it.
// Eight pieces are under way at any time, so memory does not grow with the file.

import Glibc
import GrandCentral

/// Copies a file, with capital letters in place of small ones.
final class Pipeline: Sendable {
  static let pieceBytes = 1 << 18
  static let maxPieces = 8

  private let source: DispatchIO
  private let target: DispatchIO
  private let bytes: Int
  private let nextOffset = Guarded(0, label: "pipeline.offset")
  private let error = Guarded<Int32>(0, label: "pipeline.error")
  private let pieces = DispatchGroup()
  private let files = DispatchGroup()

  /// - Parameter bytes: the length of the file at `from`.
  init(from: String, to: String, bytes: Int) throws(Failure) {
    self.bytes = bytes
    // Channels of type .random read and write at given offsets, at several at the same time.
    source = try Self.channel(from, O_RDONLY, Failure.readable, in: files)
    target = try Self.channel(to, O_WRONLY | O_CREAT | O_TRUNC, Failure.writable, in: files)
  }

  /// Opens a file and a channel to it. `group` is entered until both are closed.
  private static func channel(
    _ path: String, _ flags: Int32, _ advice: String, in group: DispatchGroup
  ) throws(Failure) -> DispatchIO {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("open '\(path)'", advice) }
    group.enter()
    return DispatchIO(type: .random, fileDescriptor: descriptor, queue: .global()) { _ in
      close(descriptor)
      group.leave()
    }
  }

  func run() throws(Failure) {
    for _ in 0..<Self.maxPieces {
      moveNextPiece(on: DispatchQueue(label: "pipeline.piece"))
    }
    pieces.wait()
    source.close()
    target.close()
    files.wait()
    errno = error.sync { $0 }
    if errno != 0 { throw .system("copy through channels", Failure.writable) }
  }

  /// Moves one piece, then another one, until there is none. The handlers run on `queue`, one at a
  /// time; those of other pieces run meanwhile.
  private func moveNextPiece(on queue: DispatchQueue) {
    let offset = nextOffset.sync { next in
      defer { next += Self.pieceBytes }
      return next
    }
    if offset >= bytes || error.sync({ $0 }) != 0 { return }
    pieces.enter()
    var piece = DispatchData.empty
    source.read(offset: off_t(offset), length: Self.pieceBytes, queue: queue) {
      [self] isDone, data, code in
      if let data { piece.append(data) }
      guard isDone else { return }
      note(code)
      let changed = Self.withCapitals(piece)
      target.write(offset: off_t(offset), data: changed, queue: queue) { [self] isDone, _, code in
        guard isDone else { return }
        note(code)
        moveNextPiece(on: queue)
        pieces.leave()
      }
    }
  }

  private func note(_ code: Int32) {
    if code != 0 { error.sync { $0 = code } }
  }

  static func withCapitals(_ data: DispatchData) -> DispatchData {
    var bytes = Array(data)
    var span = bytes.mutableSpan
    for index in span.indices where UInt8(ascii: "a")...UInt8(ascii: "z") ~= span[index] {
      span[index] -= 32
    }
    return DispatchData(bytes)
  }
}

/// Writes a file of `count` blocks of text. Each one begins with its number, so none can take
/// another one's place unnoticed.
func makeLongFile(_ path: String, blocks count: Int) throws(Failure) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw .system("create '\(path)'", Failure.writable) }
  defer { close(descriptor) }
  let line = "Queues run items, and sources run handlers: 4 < 5 & café.\n"
  var block = Array(Array(repeating: line, count: 20_000).joined().utf8.prefix(1 << 20))
  for number in 0..<count {
    block.replaceSubrange(0..<12, with: "block \(number)".padded(to: 12).utf8)
    guard write(descriptor, block, block.count) == block.count else {
      throw .system("write '\(path)'", Failure.writable)
    }
  }
}

extension Chapter {
  static let pipeline = Chapter(
    name: "pipeline", summary: "a long file through channels, changed on the way, beside tr"
  ) { tour in
    let (source, ours, theirs) = (tour.scratch + "/long", tour.scratch + "/1", tour.scratch + "/2")
    defer { for path in [source, ours, theirs] { unlink(path) } }
    let blocks = tour.isShort ? 10 : 256
    try makeLongFile(source, blocks: blocks)
    let time = try timed { try Pipeline(from: source, to: ours, bytes: blocks << 20).run() }
    let underWay = (Pipeline.maxPieces * Pipeline.pieceBytes) >> 20
    tour.say("channels: \(time.words) for \(blocks) MiB, with at most \(underWay) MiB in memory")
    let trTime = try timed {
      _ = try Program.run("tr", "a-z", "A-Z", input: source, output: theirs)
    }
    tour.say("tr:       \(trTime.words)")
    let (sum, expected) = (try Checksum(ofFile: ours), try Checksum(ofFile: theirs))
    tour.check(
      sum == expected && sum.bytes == blocks << 20, "the bytes are those that tr writes",
      "\(sum.bytes) bytes with checksum \(sum.value), not \(expected.bytes) with \(expected.value)")
  }
}
