// Room: Platform/DescriptorSpace. How many bytes a descriptor can read or write without waiting.
import CGrandCentralLinux

enum DescriptorSpace {
  static func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

  /// The bytes that can be read without waiting; `nil` if the kernel does not say. Sockets, pipes
  /// and terminals know it by ioctl(2) FIONREAD. Not for a regular file: the kernel's number has 32
  /// bits, of which the low half of a large rest, or of a position behind the end, is anything.
  static func readable(_ descriptor: Int32) -> Int? {
    let count = gc_readable_bytes(descriptor)
    return count < 0 ? nil : Int(count)
  }

  /// The bytes of a regular file after its position; `nil` for other descriptors.
  static func restOfFile(_ descriptor: Int32) -> Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let position = lseek(descriptor, 0, SEEK_CUR)
    return position < 0 ? nil : max(0, Int(status.st_size) - Int(position))
  }

  /// The bytes that can probably be written without waiting: the free part of a socket's send
  /// buffer or of a pipe. For other descriptors, 65,536, a reasonable amount for one write.
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

  /// Whether the descriptor is a regular file, which has a size and a position.
  static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  static func isSocket(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// Whether the descriptor is a directory, which cannot be read as a file.
  static func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
