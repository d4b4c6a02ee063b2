// Descriptors for tests: pipes, sockets, files. Each closes what it opened unless told that it is closed.
import Glibc

/// Two ends that are connected: what is written to `output` comes out of `input`.
public struct DescriptorPair: Sendable {
  public let input: Int32
  public let output: Int32

  /// A pipe, both ends non-blocking.
  public static func pipe() -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { fatalError("pipe: errno \(errno)") }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return DescriptorPair(input: ends[0], output: ends[1])
  }

  /// Two stream sockets, non-blocking; either end reads and writes.
  public static func sockets(datagrams: Bool = false) -> DescriptorPair {
    var ends: [Int32] = [-1, -1]
    let kind = Int32((datagrams ? SOCK_DGRAM : SOCK_STREAM).rawValue)
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind | flags, 0, &ends) == 0 else {
      fatalError("socketpair: errno \(errno)")
    }
    return DescriptorPair(input: ends[0], output: ends[1])
  }

  public func closeBoth() {
    close(input)
    close(output)
  }
}

/// Writes all of `count` bytes, as far as there is room. Returns how many went.
@discardableResult
public func writeBytes(_ descriptor: Int32, _ count: Int) -> Int {
  let bytes = [UInt8](repeating: 7, count: count)
  let written = write(descriptor, bytes, count)
  return written
}

/// Reads what is there, at most `most` bytes. 0: the end; -1: nothing, or an error.
@discardableResult
public func readBytes(_ descriptor: Int32, atMost most: Int = 65536) -> Int {
  withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
    read(descriptor, buffer.baseAddress, most)
  }
}

/// How many descriptors the process has open, as /proc says.
public func openDescriptors() -> Int {
  guard let folder = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(folder) }
  var count = -1  // the folder's own
  while let entry = readdir(folder) {
    if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
  }
  return count
}
