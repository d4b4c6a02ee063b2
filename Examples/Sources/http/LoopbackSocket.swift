// TCP on the loopback interface, by system calls. Errors are `nil`, with errno.

import Glibc

enum LoopbackSocket {
  /// A socket that waits for connections. It never blocks. With port 0 the system picks a port.
  static func listening(on port: UInt16) -> (descriptor: Int32, port: UInt16)? {
    guard let descriptor = make(flags: SOCK_NONBLOCK) else { return nil }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    var port = port
    let result = withAddress(port: &port) { address, length in
      bind(descriptor, address, length) | listen(descriptor, 128)
        | getsockname(descriptor, address, &length)
    }
    return result == 0 ? (descriptor, port) : nil
  }

  /// A connection to `port`.
  static func connected(to port: UInt16) -> Int32? {
    guard let descriptor = make() else { return nil }
    var port = port
    return withAddress(port: &port) { connect(descriptor, $0, $1) } == 0 ? descriptor : nil
  }

  private static func make(flags: __socket_type = .init(0)) -> Int32? {
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags.rawValue
    let descriptor = socket(AF_INET, Int32(type), 0)
    return descriptor >= 0 ? descriptor : nil
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
