// Shared by the descriptor workloads of all engines: socket pairs, messages, and the peer.

import Glibc

/// The length of a message in bytes: one cache line, so that copying costs little beside a wake-up.
public let messageBytes = 64
/// The length of a streaming read or write in bytes.
public let chunkBytes = 64 * 1_024

/// Two connected non-blocking stream sockets. `close()` closes both.
public struct SocketPair: Sendable {
  public let near: Int32
  public let far: Int32

  public init() {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    if socketpair(AF_UNIX, kind, 0, &ends) != 0 { fail("socketpair: \(errno)") }
    (near, far) = (ends[0], ends[1])
  }

  public func close() {
    Glibc.close(near)
    Glibc.close(far)
  }
}

/// Raises the limit of open descriptors to fit `count` more.
public func allowDescriptors(_ count: Int) {
  var limit = rlimit()
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  getrlimit(resource, &limit)
  let wanted = rlim_t(count + 256)
  if limit.rlim_cur >= wanted { return }
  limit.rlim_cur = min(wanted, limit.rlim_max)
  if limit.rlim_cur < wanted || setrlimit(resource, &limit) != 0 {
    fail("the limit of open files is below \(wanted); see ulimit -n")
  }
}

/// Writes one message; the socket has room for it.
public func sendMessage(to descriptor: Int32) {
  withUnsafeTemporaryAllocation(byteCount: messageBytes, alignment: 8) { message in
    message.initializeMemory(as: UInt8.self, repeating: 7)
    let length = write(descriptor, message.baseAddress, messageBytes)
    expect(length == messageBytes, "wrote \(length) bytes: \(errno)")
  }
}

/// Reads one whole message. Returns `false` if there was none.
@discardableResult
public func receiveMessage(from descriptor: Int32) -> Bool {
  withUnsafeTemporaryAllocation(byteCount: messageBytes, alignment: 8) { message in
    let length = read(descriptor, message.baseAddress, messageBytes)
    if length < 0 && errno == EAGAIN { return false }
    expect(length == messageBytes, "read \(length) bytes: \(errno)")
    return true
  }
}

/// A plain thread that repeatedly sends a message and blocks until it is echoed.
public final class PingPongPeer: @unchecked Sendable {
  private let descriptor: Int32
  private let count: Int
  /// Written by the thread, and read after it is joined.
  @exclusivity(unchecked) private var nanoseconds: UInt64 = 0
  private var thread = pthread_t()

  /// Starts at once, so the reader at the other end must be ready.
  public init(on descriptor: Int32, count: Int) {
    self.descriptor = descriptor
    self.count = count
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    thread = startThread { self.play() }
  }

  private func play() {
    let start = now()
    for _ in 0..<count {
      sendMessage(to: descriptor)
      receiveMessage(from: descriptor)
    }
    nanoseconds = now() - start
  }

  /// Waits for the end. Returns the duration of all round trips in nanoseconds.
  public func join() -> UInt64 {
    pthread_join(thread, nil)
    return nanoseconds
  }
}
