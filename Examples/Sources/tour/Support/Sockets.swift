// TCP on the loopback interface, by system calls.

import Glibc

enum LoopbackSocket {
  private static let advice = "Check that 127.0.0.1 can be reached, and 'ulimit -n'."

  /// A socket that waits for connections on a port that the system picks. It never blocks.
  static func listening() throws(Failure) -> (descriptor: Int32, port: UInt16) {
    let descriptor = try make(flags: SOCK_NONBLOCK)
    var port: UInt16 = 0
    let result = withAddress(port: &port) { address, length in
      bind(descriptor, address, length) | listen(descriptor, 128)
        | getsockname(descriptor, address, &length)
    }
    guard result == 0 else { throw .system("listen on 127.0.0.1", advice) }
    return (descriptor, port)
  }

  /// A connection to `port`.
  static func connected(to port: UInt16) throws(Failure) -> Int32 {
    let descriptor = try make()
    var port = port
    let result = withAddress(port: &port) { connect(descriptor, $0, $1) }
    guard result == 0 else { throw .system("connect to 127.0.0.1", advice) }
    return descriptor
  }

  private static func make(flags: __socket_type = .init(0)) throws(Failure) -> Int32 {
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags.rawValue
    let descriptor = socket(AF_INET, Int32(type), 0)
    guard descriptor >= 0 else { throw .system("make a socket", advice) }
    return descriptor
  }

  /// Calls `body` with the address of `port`, and sets `port` to what the address holds afterwards.
  private static func withAddress(
    port: inout UInt16, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    defer { port = UInt16(bigEndian: address.sin_port) }
    return withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
  }
}
