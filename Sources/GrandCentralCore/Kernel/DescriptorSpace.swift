// Room: Kernel/DescriptorSpace. How much there is to read from a descriptor, or room to write.
import CLinux

enum DescriptorSpace {
  /// Bytes that can be read without waiting; `nil` where the kernel does not say: ioctl(2) FIONREAD, which sockets,
  /// pipes, terminals and files know (for a file, what is left from its position).
  static func readable(_ descriptor: Int32) -> Int? {
    let count = gc_readable_bytes(descriptor)
    return count < 0 ? nil : Int(count)
  }

  /// Bytes that can probably be written without waiting: what is free of a socket's send buffer or a pipe. For all else
  /// as much as is worth to write at a time.
  static func writable(_ descriptor: Int32) -> Int {
    let unsent = gc_unsent_bytes(descriptor)
    if unsent >= 0, let limit = sendBuffer(descriptor) { return max(1, limit - Int(unsent)) }
    let pipe = gc_pipe_bytes(descriptor)
    if pipe >= 0 { return max(1, Int(pipe) - (readable(descriptor) ?? 0)) }
    return 65536
  }

  private static func sendBuffer(_ descriptor: Int32) -> Int? {
    var bytes: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 ? Int(bytes) : nil
  }

  /// Whether it is a file with a size and a position.
  static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether it is a directory, which cannot be read as a file.
  static func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
