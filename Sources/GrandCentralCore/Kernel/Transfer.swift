// Room: Kernel/Transfer. Bytes from a descriptor and to it; what a descriptor or a path stands for.
// read(2), pread(2), writev(2), pwritev(2), sendmsg(2). A transfer that a signal interrupts is made again. Every other
// errno is a result, for whoever asked for the bytes.
import CLinux

enum Transfer {
  enum Outcome: Equatable {
    /// 0 from a read: the end.
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
  static var mostStretches: Int { Int(GC_STRETCHES) }

  /// `offset` `nil`: from where the descriptor stands.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64?
  ) -> Outcome {
    // pread(2): EINVAL, a negative offset. It must not be taken for none.
    if let offset, offset < 0 { return .failed(EINVAL) }
    return Outcome(gc_transfer_read(descriptor, buffer, bytes, offset ?? -1))
  }

  /// Reads what is in memory at `offset`, and waits for no disk: preadv2(2) with RWF_NOWAIT.
  /// `bytes(0)` is not to be taken for the end of the file: the kernels 5.9 and 5.10 say so of
  /// bytes that are not in memory.
  static func readCached(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ bytes: Int, at offset: Int64
  ) -> Outcome {
    Outcome(gc_transfer_read_cached(descriptor, buffer, bytes, offset))
  }

  /// Whether every read waits for the disk, open(2): O_DIRECT.
  static func readsPastCache(_ descriptor: Int32) -> Bool { gc_reads_past_cache(descriptor) }

  /// Writes from the first bytes of `stretches`, of which there are at most `mostStretches`. No SIGPIPE reaches the
  /// process.
  static func write(
    _ descriptor: Int32, _ stretches: UnsafeBufferPointer<Stretch>, at offset: Int64?,
    kind: FileKind
  ) -> Outcome {
    if let offset, offset < 0 { return .failed(EINVAL) }
    guard let start = stretches.baseAddress else { return .bytes(0) }
    let outcome = Outcome(
      gc_transfer_write(
        descriptor, start, Int32(stretches.count), offset ?? -1, kind == .socket, kind != .stored))
    // write(2) gives 0 for no bytes only. To go on would be to spin.
    return outcome == .bytes(0) ? .failed(EIO) : outcome
  }

  /// Makes the open file non-blocking. Returns whether it was not, and is to be given back as it was.
  static func makeNonBlocking(_ descriptor: Int32) -> Bool {
    gc_set_nonblocking(descriptor, true) == 0
  }

  /// Takes that back. EBADF: it has been closed meanwhile.
  static func makeBlocking(_ descriptor: Int32) { _ = gc_set_nonblocking(descriptor, false) }

  /// Whether two descriptors of one file share its flags, as those do that dup(2) has made. Where the system does not
  /// tell, kcmp(2): whether they are open for the same; two that were opened by one path are then taken for one.
  static func shareFlags(_ one: Int32, _ other: Int32) -> Bool {
    let answer = gc_is_same_open_file(one, other)
    if answer >= 0 { return answer == 1 }
    let modes = [one, other].map { gc_access_mode($0) }
    return modes[0] >= 0 && modes[0] == modes[1]
  }

  /// Opens without waiting, as for the other end of a FIFO. A failure is its errno.
  static func open(_ path: [CChar], _ flags: Int32, _ mode: UInt32) -> Result<Int32, SystemError> {
    let opened = gc_open_file(path, flags | O_NONBLOCK, mode)
    return opened >= 0 ? .success(opened) : .failure(SystemError(number: -opened))
  }

  /// close(2): whatever it says, the descriptor is gone.
  static func close(_ descriptor: Int32) { _ = closeDescriptor(descriptor) }

  /// Where the descriptor stands: lseek(2). ESPIPE: it has no such place.
  static func position(_ descriptor: Int32) -> Result<Int64, SystemError> {
    let position = lseek(descriptor, 0, SEEK_CUR)
    return position >= 0 ? .success(Int64(position)) : .failure(SystemError(number: errno))
  }
}

extension Transfer {
  /// How many bytes a file has behind a place; `nil`: of where the descriptor stands. Negative behind its end. No answer
  /// for what has no size, as block devices, and where the place or the descriptor is none.
  static func bytesLeft(_ descriptor: Int32, from offset: Int64?) -> Int? {
    guard case .status(let status) = FileStatus.of(descriptor), status.mode & S_IFMT == S_IFREG,
      let place = offset ?? (try? position(descriptor).get()), place >= 0
    else { return nil }
    return Int(status.size - place)
  }
}

/// What bytes are moved to and from, as far as it decides how that is done.
enum FileKind: Equatable, Sendable {
  /// A file or a block device: always ready, and it may take time.
  case stored
  case socket
  /// A pipe, a FIFO.
  case pipe
  /// A terminal, another device, and what else has a descriptor.
  case other
  /// It has no bytes to read or write.
  case directory

  static func of(_ descriptor: Int32) -> Result<FileKind, SystemError> {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      return .failure(SystemError(number: errno))
    }
    return .success(FileKind(mode: status.st_mode))
  }

  /// What is there by now.
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

// Under a name that members called `close` do not hide.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
