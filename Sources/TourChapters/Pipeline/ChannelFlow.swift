// Purpose: copies all bytes of one channel to another, with a change on the way. The number of
// bytes in flight is bounded, whatever the speed of reader and writer:
//   read ─handler→ change ─write→ … ─handler→ bytes released
// Above the limit, the queue of the read handlers is suspended. A channel does not read ahead of
// handlers that do not run, so it stops reading until half of the limit is written.

import GrandCentral
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// SAFETY: every variable is only touched by items and handlers of `writing`.
final class ChannelFlow: @unchecked Sendable {
  struct Outcome: Sendable {
    var bytesRead = 0
    var bytesWritten = 0
    /// The largest number of bytes held: read and changed, and not yet written.
    var maxBytesHeld = 0
    /// How often the reader had to wait for the writer.
    var pauses = 0
    var fault: FileFault?
  }

  /// The limit above which the reader waits. One more piece may be in the change at that moment.
  static let heldBytesLimit = 4 << 20
  static let pieceBytes = 1 << 20

  /// Signalled when the reader has to wait for the writer.
  let halts = DispatchSemaphore(value: 0)
  private let from: Path
  private let to: Path
  private let targetFlags: Int32
  private let change: @Sendable (DispatchData) -> DispatchData
  private let whenMoved: @Sendable (Int) -> Void
  /// The queue on which bytes arrive and are changed.
  private let reading = DispatchQueue(label: "tour.flow.reading")
  /// The queue on which writes complete, while the next piece is changed.
  private let writing = DispatchQueue(label: "tour.flow.writing")
  /// Entered for both channels and for each operation on them.
  private let underWay = DispatchGroup()
  private var source: DispatchIO?
  private var target: DispatchIO?
  private var bytesHeld = 0
  private var isHalted = false
  private var outcome = Outcome()

  /// - Parameters:
  ///   - from: the path of a regular file.
  ///   - to: the path of the output; by default a new file, which must not exist.
  ///   - whenMoved: called with the number of bytes of each piece written.
  ///   - change: returns the output for a piece of input; pieces end anywhere.
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

  /// Starts the copy. `whenOver` is called once, when both files are closed.
  func start(mode: mode_t = 0o600, whenOver: @escaping @Sendable (Outcome) -> Void) {
    writing.async { [self] in
      source = channel(from, O_RDONLY | O_NOFOLLOW, mode: 0)
      target = channel(to, targetFlags, mode: mode)
      if let source, let target {
        read(source, into: target)
      } else {
        // The path is not absolute. A channel that was created must still be closed.
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

  /// Starts the one read operation, whose handler receives piece by piece.
  private func read(_ source: DispatchIO, into target: DispatchIO) {
    // The first operation opens the target, so an empty write creates it for an empty source too.
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
        // The target failed, so stop reading.
        source?.close(flags: .stop)
      }
      if written > 0 { whenMoved(written) }
      underWay.leave()
    }
  }

  /// Closes both channels. Each ends when its operations have ended.
  private func finish() {
    source?.close()
    target?.close()
    source = nil
    target = nil
  }

  /// Records the first error; later ones are its consequences.
  private func note(_ error: Int32, of path: Path) {
    if error != 0 && outcome.fault == nil { outcome.fault = FileFault(path: path, code: error) }
  }
}
