// A channel that records what its handlers get, for the tests that both engines share.
import Glibc
import TestSupport

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

struct Channel {
  let io: DispatchIO
  let cleanups: Log<Int32>
  private let queue = DispatchQueue(label: "door.handlers")

  private init(_ make: (@escaping @Sendable (Int32) -> Void) -> DispatchIO) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    io = make { cleanups.append($0) }
  }

  init(_ descriptor: Int32, _ type: DispatchIO.StreamType = .stream) {
    self.init {
      DispatchIO(type: type, fileDescriptor: descriptor, queue: .global(), cleanupHandler: $0)
    }
  }

  init(of other: Channel, _ type: DispatchIO.StreamType) {
    self.init { DispatchIO(type: type, io: other.io, queue: .global(), cleanupHandler: $0) }
  }

  init?(path: String, _ flags: Int32) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    let made = DispatchIO(
      type: .stream, path: path, oflag: flags, mode: 0o600, queue: .global()
    ) { cleanups.append($0) }
    guard let made else { return nil }
    io = made
  }

  func read(_ length: Int = .max, at offset: off_t = 0) -> IOResult {
    let result = IOResult()
    io.read(offset: offset, length: length, queue: queue, ioHandler: result.handler)
    return result
  }

  func write(_ bytes: [UInt8], at offset: off_t = 0) -> IOResult {
    let result = IOResult()
    io.write(offset: offset, data: copiedData(bytes), queue: queue, ioHandler: result.handler)
    return result
  }

  /// Closes the channel. Returns the cleanup handler's error, or -1 unless it ran exactly once.
  func end() -> Int32 {
    io.close()
    return cleanups.waitForCount(1) && cleanups.count == 1 ? cleanups.all[0] : -1
  }
}

/// What the handlers of one operation received.
final class IOResult: @unchecked Sendable {
  private let monitor = Monitor()
  private var calls: [[UInt8]] = []
  private var doneCount = 0
  private var lastError: Int32 = 0

  var handler: @Sendable (Bool, DispatchData?, Int32) -> Void {
    { [self] done, data, error in
      monitor.change {
        calls.append(Array(data ?? .empty))
        doneCount += done ? 1 : 0
        lastError = error
      }
    }
  }

  /// Waits for `done`. Returns false if it does not come, or comes twice.
  func wait() -> Bool {
    monitor.wait(seconds: deadlineSeconds) { doneCount > 0 }
      && monitor.withLock { doneCount == 1 }
  }

  var isDone: Bool { monitor.withLock { doneCount > 0 } }
  var bytes: [UInt8] { monitor.withLock { Array(calls.joined()) } }
  var pieces: [Int] { monitor.withLock { calls.map(\.count) } }
  var last: [UInt8] { monitor.withLock { calls.last ?? [] } }
  var error: Int32 { monitor.withLock { lastError } }
}
