// Descriptors for tests: pipes, sockets, terminals. The test closes them.
import CFaults
import Glibc

/// Two connected ends: bytes written to `output` can be read from `input`.
public struct DescriptorPair: Sendable {
  public let input: Int32
  public let output: Int32

  public init(input: Int32, output: Int32) {
    self.input = input
    self.output = output
  }

  /// Makes a pipe with both ends non-blocking.
  public static func pipe() -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    let error = faults_make_pipe(&ends, false)
    guard error == 0 else { fatalError("pipe2: errno \(error)") }
    return DescriptorPair(input: ends[0], output: ends[1])
  }

  /// Makes two connected, non-blocking sockets; both ends can read and write.
  public static func sockets(datagrams: Bool = false) -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    let kind = Int32((datagrams ? SOCK_DGRAM : SOCK_STREAM).rawValue)
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind | flags, 0, &ends) == 0 else {
      fatalError("socketpair: errno \(errno)")
    }
    return DescriptorPair(input: ends[0], output: ends[1])
  }

  /// Opens a pseudo-terminal: the terminal is `input`, the keyboard's side is `output`.
  public static func terminal() -> DescriptorPair {
    var (keyboard, terminal): (Int32, Int32) = (-1, -1)
    let error = faults_open_terminal(&keyboard, &terminal)
    guard error == 0 else { fatalError("posix_openpt: errno \(error)") }
    return DescriptorPair(input: terminal, output: keyboard)
  }

  public func closeBoth() {
    close(input)
    close(output)
  }
}

/// Writes up to `count` bytes, as many as fit. Returns the number written.
@discardableResult
public func writeBytes(_ descriptor: Int32, _ count: Int) -> Int {
  let bytes = [UInt8](repeating: 7, count: count)
  let written = write(descriptor, bytes, count)
  return written
}

/// Reads at most `most` available bytes. Returns 0 at the end, -1 if none is available or on error.
@discardableResult
public func readBytes(_ descriptor: Int32, atMost most: Int = 65536) -> Int {
  withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
    read(descriptor, buffer.baseAddress, most)
  }
}

/// Makes an eventfd(2).
public func makeEventDescriptor() -> Int32 { faults_make_eventfd() }

/// Whether a sanitizer is active; a sanitizer delays the reuse of freed memory.
public var isSanitized: Bool { faults_is_sanitized() }

/// The number of open descriptors of this process, from /proc.
public func openDescriptors() -> Int { descriptorNames().count - 1 }

/// The number of descriptors that stay open: the smallest of several counts. The engine's monitor
/// opens files briefly from time to time, and a thread that is named opens one.
public func settledDescriptors() -> Int {
  var least = openDescriptors()
  for _ in 0..<20 {
    sleepMilliseconds(1)
    least = min(least, openDescriptors())
  }
  return least
}

/// The names include the descriptor that lists the folder itself, which is closed on return.
private func descriptorNames() -> [String] { namesInFolder("/proc/self/fd") ?? [] }

/// Whether an epoll(7) set waits for `descriptor` to be readable, from /proc.
public func isWatchedForReading(_ descriptor: Int32) -> Bool {
  descriptorNames().contains { name in
    contents(of: "/proc/self/fdinfo/\(name)")?.split(separator: "\n").contains { line in
      // tfd: 700 events: 40000001 data: …
      let words = line.split(separator: " ")
      return words.count > 3 && words[0] == "tfd:" && Int32(words[1]) == descriptor
        && UInt32(words[3], radix: 16).map { $0 & 1 == 1 } == true
    } == true
  }
}

/// The readiness that poll(2) reports.
public enum ReadinessNow {
  /// Whether bytes can be read.
  public static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 1
  }

  /// Whether no byte can be written.
  public static func isFull(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) == 0
  }
}

extension sockaddr_in {
  fileprivate static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  fileprivate mutating func withPointer<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &self) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}

private func makeSocket(_ kind: __socket_type) -> Int32 {
  let made = socket(AF_INET, Int32(kind.rawValue | SOCK_NONBLOCK.rawValue), 0)
  var address = sockaddr_in.loopback(port: 0)
  guard made >= 0, address.withPointer({ bind(made, $0, $1) }) == 0 else {
    fatalError("socket: errno \(errno)")
  }
  return made
}

private func address(of descriptor: Int32) -> sockaddr_in {
  var address = sockaddr_in()
  _ = address.withPointer { pointer, size in
    var size = size
    return getsockname(descriptor, pointer, &size)
  }
  return address
}

/// A socket that listens on a free port of the loopback interface.
public struct LoopbackServer: Sendable {
  public let descriptor: Int32

  public init(backlog: Int32) {
    descriptor = makeSocket(SOCK_STREAM)
    listen(descriptor, backlog)
  }

  public var port: UInt16 { UInt16(bigEndian: address(of: descriptor).sin_port) }

  /// Opens a new, blocking connection to the server.
  public func connect() -> Int32 {
    let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = address(of: descriptor)
    guard address.withPointer({ Glibc.connect(made, $0, $1) }) == 0 else {
      fatalError("connect: errno \(errno)")
    }
    return made
  }
}

/// Two UDP sockets on the loopback interface. `input` is first connected to a port without a
/// listener, and can then receive from the other socket.
public struct UDPPair: Sendable {
  public let input: Int32
  private let output: Int32

  public init() {
    input = makeSocket(SOCK_DGRAM)
    output = makeSocket(SOCK_DGRAM)
    // The kernel reports refusals to connected sockets only. The closed socket's port is unused.
    let gone = makeSocket(SOCK_DGRAM)
    var target = address(of: gone)
    close(gone)
    _ = target.withPointer { Glibc.connect(input, $0, $1) }
  }

  public func sendIntoNothing() { send(input, [1], 1, 0) }

  /// Connects `input` to the other socket, which sends it one datagram of `count` bytes.
  public func sendToInput(_ count: Int) {
    var other = address(of: output)
    _ = other.withPointer { Glibc.connect(input, $0, $1) }
    var target = address(of: input)
    let bytes = [UInt8](repeating: 1, count: count)
    _ = target.withPointer { sendto(output, bytes, count, 0, $0, $1) }
  }

  public func closeAll() {
    close(input)
    close(output)
  }
}
