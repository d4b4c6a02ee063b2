// Purpose: TCP on 127.0.0.1 for the echo server and its clients. All descriptors close on exec.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum LoopbackSocket {
  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
    private static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    private static let both = Int32(SHUT_RDWR)
    private static let outgoing = Int32(SHUT_WR)
  #else
    private static let stream = SOCK_STREAM
    private static let closeOnExec = SOCK_CLOEXEC
    private static let nonBlocking = SOCK_NONBLOCK
    private static let both = SHUT_RDWR
    private static let outgoing = SHUT_WR
  #endif

  /// Creates a non-blocking listening socket on a port that the system picks.
  public static func listening() -> Result<(descriptor: Int32, port: UInt16), FileFault> {
    let descriptor = socket(AF_INET, stream | closeOnExec | nonBlocking, 0)
    guard descriptor >= 0 else { return .failure(fault("socket")) }
    var address = address(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) | listen(descriptor, 1024) | getsockname(descriptor, $0, &size)
      }
    }
    guard result == 0 else {
      defer { close(descriptor) }
      return .failure(fault("bind"))
    }
    return .success((descriptor, UInt16(bigEndian: address.sin_port)))
  }

  /// Accepts the next connection as a non-blocking descriptor; -1 with errno set if there is none.
  public static func accept(_ listening: Int32) -> Int32 {
    if let accept4 { return accept4(listening, nil, nil, closeOnExec | nonBlocking) }
    let descriptor = plainAccept(listening)
    if descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    return descriptor
  }

  private typealias Accept4 =
    @convention(c) (
      Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
    ) -> Int32

  /// accept4(2) is not imported. Without it, a child started between accept(2) and fcntl(2) would
  /// inherit the connection and keep it open.
  // SAFETY: the type is that of the manual page.
  private static let accept4 = dlsym(nil, "accept4").map { unsafeBitCast($0, to: Accept4.self) }

  private static func plainAccept(_ listening: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.accept(listening, nil, nil)
    #else
      Musl.accept(listening, nil, nil)
    #endif
  }

  /// Opens a blocking connection to `port`. Its calls fail after `seconds` without progress.
  public static func connect(port: UInt16, seconds: Int) -> Result<Int32, FileFault> {
    let descriptor = socket(AF_INET, stream | closeOnExec, 0)
    guard descriptor >= 0 else { return .failure(fault("socket")) }
    var patience = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    var address = address(port: port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        #if canImport(Glibc)
          Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        #else
          Musl.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        #endif
      }
    }
    guard result == 0 else {
      defer { close(descriptor) }
      return .failure(fault("connect"))
    }
    return .success(descriptor)
  }

  /// Shuts down the sending half of the connection.
  public static func endSending(_ descriptor: Int32) {
    shutdown(descriptor, outgoing)
  }

  /// Writes like write(2), without SIGPIPE if the peer has closed the connection.
  public static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// Sends all bytes, blocking. Returns false if that fails.
  public static func sendAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = send(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if count < 0 && errno != EINTR { return false }
      rest = rest.dropFirst(max(0, count))
    }
    return true
  }

  /// Fills `buffer`, blocking. Returns the number of bytes received before the end or an error.
  public static func receiveAll(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int
  {
    var filled = 0
    while filled < buffer.count {
      let count = read(descriptor, buffer.baseAddress! + filled, buffer.count - filled)
      if count == 0 || count < 0 && errno != EINTR { break }
      filled += max(0, count)
    }
    return filled
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func fault(_ call: String) -> FileFault {
    FileFault(path: Path(call), code: errno)
  }
}
