// Purpose: moves all bytes of one channel to another, changed on the way, with a bounded number of
// bytes in flight however fast the one reads and however slowly the other writes:
//   read ─handler→ change ─write→ … ─handler→ taken off
// Above the limit the queue of the read handlers is suspended. A channel does not read ahead of
// handlers that do not run, so it reads no further until half of the limit has been written.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: everything that changes is only touched by items and handlers of `writing`.
final class ChannelFlow: @unchecked Sendable {
  struct Outcome: Sendable {
    var bytesRead = 0
    var bytesWritten = 0
    /// The most bytes that were read, and neither changed nor written yet.
    var maxBytesHeld = 0
    /// How often the reader had to wait for the writer.
    var pauses = 0
    var fault: FileFault?
  }

  /// Where a reader is halted. It holds one piece more at the most, which was being changed.
  static let heldBytesLimit = 4 << 20
  static let pieceBytes = 1 << 20

  /// Signalled when the reader has to wait for the writer.
  let halts = DispatchSemaphore(value: 0)
  private let from: Path
  private let to: Path
  private let targetFlags: Int32
  private let change: @Sendable (DispatchData) -> DispatchData
  private let whenMoved: @Sendable (Int) -> Void
  /// Where bytes are read and changed.
  private let reading = DispatchQueue(label: "tour.flow.reading")
  /// Where the end of each write is told, beside the changing of what comes next.
  private let writing = DispatchQueue(label: "tour.flow.writing")
  /// Both channels, and every operation on them.
  private let underWay = DispatchGroup()
  private var source: DispatchIO?
  private var target: DispatchIO?
  private var bytesHeld = 0
  private var isHalted = false
  private var outcome = Outcome()

  /// - Parameters:
  ///   - from: the path of an ordinary file.
  ///   - to: by default a file that is made, and must not be there.
  ///   - whenMoved: called with the bytes of each piece that has been written.
  ///   - change: what to write for a piece of what was read; it may be cut anywhere.
  init(
    from: Path, to: Path, targetFlags: Int32 = O_WRONLY | O_CREAT | O_EXCL,
    whenMoved: @escaping @Sendable (Int) -> Void = { _ in },
    change: @escaping @Sendable (DispatchData) -> DispatchData = { $0 }
  ) {
    self.from = from
    self.to = to
    self.targetFlags = targetFlags
    self.whenMoved = whenMoved
    self.change = change
  }

  /// Begins. `whenOver` is called once, when both files have been closed.
  func start(mode: mode_t = 0o600, whenOver: @escaping @Sendable (Outcome) -> Void) {
    writing.async { [self] in
      source = channel(from, O_RDONLY | O_NOFOLLOW, mode: 0)
      target = channel(to, targetFlags, mode: mode)
      if let source, let target {
        read(source, into: target)
      } else {
        // A path that does not begin at the root; the channel that there is must still be closed.
        note(EINVAL, of: from)
        finish()
      }
      underWay.notify(queue: writing) { [self] in whenOver(outcome) }
    }
  }

  private func channel(_ path: Path, _ flags: Int32, mode: mode_t) -> DispatchIO? {
    underWay.enter()
    let made = path.withCString { name in
      DispatchIO(
        type: .stream, path: name, oflag: flags | O_CLOEXEC, mode: mode, queue: writing
      ) { [self] error in
        note(error, of: path)
        underWay.leave()
      }
    }
    if made == nil { underWay.leave() }
    made?.setLimit(highWater: Self.pieceBytes)
    return made
  }

  /// One read, which hands over piece by piece what there is.
  private func read(_ source: DispatchIO, into target: DispatchIO) {
    // A file that is empty is made as well: the first operation opens it.
    write(.empty, of: 0, to: target)
    underWay.enter()
    source.read(offset: 0, length: .max, queue: reading) { [self] done, data, error in
      if let data, !data.isEmpty {
        let changed = change(data)
        writing.sync { write(changed, of: data.count, to: target) }
      }
      guard done else { return }
      writing.sync {
        note(error, of: from)
        finish()
      }
      underWay.leave()
    }
  }

  // MARK: On the writing queue

  private func write(_ data: DispatchData, of bytes: Int, to target: DispatchIO) {
    outcome.bytesRead += bytes
    bytesHeld += bytes
    outcome.maxBytesHeld = max(outcome.maxBytesHeld, bytesHeld)
    if bytesHeld > Self.heldBytesLimit && !isHalted {
      isHalted = true
      outcome.pauses += 1
      reading.suspend()
      halts.signal()
    }
    underWay.enter()
    target.write(offset: 0, data: data, queue: writing) { [self] done, rest, error in
      guard done else { return }
      let written = data.count - (rest?.count ?? 0)
      outcome.bytesWritten += written
      bytesHeld -= bytes
      if isHalted && bytesHeld <= Self.heldBytesLimit / 2 {
        isHalted = false
        reading.resume()
      }
      if error != 0 {
        note(error, of: to)
        // What is read from now on could not be written either.
        source?.close(flags: .stop)
      }
      if written > 0 { whenMoved(written) }
      underWay.leave()
    }
  }

  /// Each channel closes when its operations have ended.
  private func finish() {
    source?.close()
    target?.close()
    source = nil
    target = nil
  }

  /// The first is the cause of those that follow.
  private func note(_ error: Int32, of path: Path) {
    if error != 0 && outcome.fault == nil { outcome.fault = FileFault(path: path, code: error) }
  }
}
