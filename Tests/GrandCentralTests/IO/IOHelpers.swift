import Glibc
import GrandCentral
import TestSupport
import Testing

/// Records what the handlers of one operation received.
final class IOResult: @unchecked Sendable {
  private let monitor = Monitor()
  private var bytes: [UInt8] = []
  private var pieceSizes: [Int?] = []
  private var doneCount = 0
  private var lastError: Int32 = 0
  private var lastData: DispatchData?
  private var hadCallAfterDone = false
  private var running = 0
  private var overlapped = false
  private let onCall: @Sendable () -> Void

  init(_ onCall: @escaping @Sendable () -> Void = {}) { self.onCall = onCall }

  var handler: @Sendable (Bool, DispatchData?, Int32) -> Void {
    { [self] done, data, error in
      monitor.withLock {
        running += 1
        overlapped = overlapped || running > 1
      }
      onCall()
      monitor.change {
        running -= 1
        hadCallAfterDone = hadCallAfterDone || doneCount > 0
        if let data { bytes.append(contentsOf: data) }
        pieceSizes.append(data?.count)
        lastData = data
        if done { doneCount += 1 }
        if error != 0 { lastError = error }
      }
    }
  }

  /// Waits for `done`. Returns false on timeout, if calls overlapped, or if a call followed `done`.
  func wait() -> Bool {
    monitor.wait(seconds: deadlineSeconds) { doneCount > 0 }
      && monitor.withLock { doneCount == 1 && !hadCallAfterDone && !overlapped }
  }

  func waitForPieces(_ count: Int) -> Bool {
    monitor.wait(seconds: deadlineSeconds) { pieceSizes.count >= count }
  }

  var isDone: Bool { monitor.withLock { doneCount > 0 } }
  var all: [UInt8] { monitor.withLock { bytes } }
  var pieces: [Int?] { monitor.withLock { pieceSizes } }
  var error: Int32 { monitor.withLock { lastError } }
  /// The data of the last call.
  var last: DispatchData? { monitor.withLock { lastData } }
}

extension DispatchIO {
  func read(_ length: Int = .max, at offset: off_t = 0, on queue: DispatchQueue) -> IOResult {
    let result = IOResult()
    read(offset: offset, length: length, queue: queue, ioHandler: result.handler)
    return result
  }

  func write(_ bytes: [UInt8], at offset: off_t = 0, on queue: DispatchQueue) -> IOResult {
    let result = IOResult()
    write(offset: offset, data: DispatchData(bytes), queue: queue, ioHandler: result.handler)
    return result
  }
}

/// A channel that records the calls of its cleanup handler.
struct TestChannel {
  let io: DispatchIO
  let cleanups: Log<Int32>

  init(
    _ descriptor: Int32, _ type: DispatchIO.StreamType = .stream,
    on queue: DispatchQueue = .global()
  ) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    io = DispatchIO(type: type, fileDescriptor: descriptor, queue: queue) { cleanups.append($0) }
  }

  init?(
    path: String, _ type: DispatchIO.StreamType = .stream, _ flags: Int32 = O_RDONLY,
    on queue: DispatchQueue = .global()
  ) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    let made = DispatchIO(
      type: type, path: path, oflag: flags, mode: 0o600, queue: queue
    ) { cleanups.append($0) }
    guard let made else { return nil }
    io = made
  }

  init(of other: TestChannel, _ type: DispatchIO.StreamType) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    io = DispatchIO(type: type, io: other.io, queue: .global()) { cleanups.append($0) }
  }

  /// Closes the channel and waits for the cleanup handler.
  func end(_ flags: DispatchIO.CloseFlags = []) -> Bool {
    io.close(flags: flags)
    return cleanups.waitForCount(1) && cleanups.count == 1
  }
}

extension DescriptorPair {
  /// The pair with both ends blocking, as in most programs.
  var madeBlocking: DescriptorPair {
    for end in [input, output] { _ = fcntl(end, F_SETFL, 0) }
    return self
  }
}

func isNonBlocking(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0 }

/// Writes all of `bytes` at the start of the file.
func fill(_ descriptor: Int32, _ bytes: [UInt8]) {
  var offset = 0
  while offset < bytes.count {
    let count = bytes[offset...].withUnsafeBytes {
      pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
    }
    guard count > 0 else { fatalError("pwrite: errno \(errno)") }
    offset += count
  }
}

/// Reads the first bytes of a file.
func content(_ descriptor: Int32, _ count: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, 0) }
  return Array(bytes.prefix(max(0, read)))
}

/// Whether a descriptor of the process refers to the file.
func isOpen(_ path: String) -> Bool {
  (0..<1024).contains { descriptor in
    var target = [UInt8](repeating: 0, count: 1024)
    let count = target.withUnsafeMutableBytes {
      readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)
    }
    return count > 0 && String(decoding: target.prefix(count), as: UTF8.self) == path
  }
}
