// Room: Platform/Transfer. Moves bytes from and to descriptors; classifies descriptors and paths.
// read(2), pread(2), writev(2), pwritev(2), sendmsg(2). A transfer that a signal interrupts is
// repeated. Every other errno is a result for the caller.
import CGrandCentralLinux

enum Transfer {
  enum Outcome: Equatable {
    /// The number of bytes; 0 from a read is the end.
    case bytes(Int)
    /// EAGAIN: nothing can be moved now.
    case wouldWait
    case failed(Int32)

    fileprivate init(_ result: Int64) {
      switch result {
      case 0...: self = .bytes(Int(result))
      case -Int64(EAGAIN): self = .wouldWait
      default: self = .failed(Int32(-result))
      }
    }
  }

  typealias Stretch = gc_stretch
  static var maxStretches: Int { Int(GC_STRETCHES) }

  /// Reads up to `bytes` bytes. `offset` `nil`: from the descriptor's position.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64?
  ) -> Outcome {
    // pread(2): EINVAL for a negative offset, which must not be mistaken for none.
    if let offset, offset < 0 { return .failed(EINVAL) }
    return Outcome(gc_transfer_read(descriptor, buffer, bytes, offset ?? -1))
  }

  /// Reads bytes at `offset` that are in memory, without waiting for the disk: preadv2(2) with
  /// RWF_NOWAIT. `bytes(0)` does not mean the end of the file: kernels 5.9 and 5.10 return it for
  /// bytes that are not in memory.
  static func readCached(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64
  ) -> Outcome {
    Outcome(gc_transfer_read_cached(descriptor, buffer, bytes, offset))
  }

  /// Whether every read waits for the disk: O_DIRECT, open(2).
  static func readsPastCache(_ descriptor: Int32) -> Bool { gc_reads_past_cache(descriptor) }

  /// Writes the first bytes of at most `maxStretches` stretches. Never causes SIGPIPE.
  static func write(
    _ descriptor: Int32, _ stretches: UnsafeBufferPointer<Stretch>, at offset: Int64?,
    kind: FileKind
  ) -> Outcome {
    if let offset, offset < 0 { return .failed(EINVAL) }
    guard let start = stretches.baseAddress else { return .bytes(0) }
    let outcome = Outcome(
      gc_transfer_write(
        descriptor, start, Int32(stretches.count), offset ?? -1, kind == .socket, kind != .stored))
    // write(2) returns 0 only for no bytes. A retry would spin.
    return outcome == .bytes(0) ? .failed(EIO) : outcome
  }

  /// How many bytes of several writes one call may make now. 0: each needs its own, since readers
  /// or other writers would see a difference.
  static func mostJoined(_ descriptor: Int32, _ kind: FileKind) -> Int {
    switch kind {
    case .pipe, .socket: Int(gc_most_joined(descriptor, kind == .socket))
    // A write may be one command, to a file of sysfs or a device.
    case .stored, .other, .directory: 0
    }
  }

  /// Makes the open file non-blocking. Returns whether it was blocking, and must be restored later.
  static func makeNonBlocking(_ descriptor: Int32) -> Bool {
    gc_set_nonblocking(descriptor, true) == 0
  }

  /// Makes the open file blocking again. Ignores EBADF: it was closed meanwhile.
  static func makeBlocking(_ descriptor: Int32) { _ = gc_set_nonblocking(descriptor, false) }

  /// Whether two descriptors of one file share its flags, as those made by dup(2) do: kcmp(2). If
  /// the system does not say, whether their access modes are equal; two descriptors opened by one
  /// path then count as one.
  static func shareFlags(_ one: Int32, _ other: Int32) -> Bool {
    let answer = gc_is_same_open_file(one, other)
    if answer >= 0 { return answer == 1 }
    let modes = [one, other].map { gc_access_mode($0) }
    return modes[0] >= 0 && modes[0] == modes[1]
  }

  /// Opens a file without waiting, for example for the other end of a FIFO. Fails with an errno.
  static func open(_ path: [CChar], _ flags: Int32, _ mode: UInt32) -> Result<Int32, SystemError> {
    let opened = gc_open_file(path, flags | O_NONBLOCK, mode)
    return opened >= 0 ? .success(opened) : .failure(SystemError(number: -opened))
  }

  /// Closes a descriptor. It is closed whatever close(2) returns.
  static func close(_ descriptor: Int32) { _ = closeDescriptor(descriptor) }

  /// The position of the descriptor: lseek(2). ESPIPE: it has none.
  static func position(_ descriptor: Int32) -> Result<Int64, SystemError> {
    let position = lseek(descriptor, 0, SEEK_CUR)
    return position >= 0 ? .success(Int64(position)) : .failure(SystemError(number: errno))
  }
}

extension Transfer {
  /// The bytes of a file from `offset` to its end, negative beyond it; `nil`: from its position.
  /// Returns `nil` for files without a size, such as block devices, and for an invalid offset or
  /// descriptor.
  static func bytesLeft(_ descriptor: Int32, from offset: Int64?) -> Int? {
    guard case .status(let status) = FileStatus.of(descriptor), status.mode & S_IFMT == S_IFREG,
      let place = offset ?? (try? position(descriptor).get()), place >= 0
    else { return nil }
    return Int(status.size - place)
  }
}

/// The kind of a file, as far as it decides how bytes are moved.
enum FileKind: Equatable, Sendable {
  /// A file or a block device: always ready, but a transfer may take time.
  case stored
  case socket
  /// A pipe, a FIFO.
  case pipe
  /// A terminal, another device, or any other descriptor.
  case other
  /// A directory, which has no bytes to read or write.
  case directory

  static func of(_ descriptor: Int32) -> Result<FileKind, SystemError> {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      return .failure(SystemError(number: errno))
    }
    return .success(FileKind(mode: status.st_mode))
  }

  /// The kind of the file that has this path now.
  static func of(path: [CChar]) -> Result<FileKind, SystemError> {
    var status = stat()
    guard stat(path, &status) == 0 else { return .failure(SystemError(number: errno)) }
    return .success(FileKind(mode: status.st_mode))
  }

  init(mode: UInt32) {
    switch mode & S_IFMT {
    case S_IFREG, S_IFBLK: self = .stored
    case S_IFSOCK: self = .socket
    case S_IFIFO: self = .pipe
    case S_IFDIR: self = .directory
    default: self = .other
    }
  }
}

// A name that the members called `close` do not hide.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
