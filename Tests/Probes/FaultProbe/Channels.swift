import CFaults
import Glibc
import GrandCentral
import TestSupport

/// Makes one direction of a descriptor fail permanently in the middle of an operation.
func channelsRefused(_ words: [String]) {
  // Workers move the bytes here, because io_uring makes no system call for each transfer.
  _ = faults_refuse([FAULTS_IO_URING_SETUP], 1, ENOSYS)
  guard words.count == 2 else { return check(false, "way and direction") }
  let (way, isRead) = (words[0], words[1] == "read")
  let folder = ScratchFolder()
  let ends =
    switch way {
    case "pipe": DescriptorPair.pipe()
    case "sockets": DescriptorPair.sockets()
    default: DescriptorPair(input: folder.file("file"), output: folder.file("file"))
    }
  let type = way == "random" ? DispatchIO.StreamType.random : .stream
  if isRead {
    refuseReading(way, type, ends)
  } else {
    refuseWriting(way, type, ends)
  }
  check(Work.isDone(), "work runs")
}

private func refuseReading(_ way: String, _ type: DispatchIO.StreamType, _ ends: DescriptorPair) {
  let call = way == "random" ? FAULTS_PREAD : FAULTS_READ
  let channel = ProbeChannel(ends.input, type)
  let isFile = ends.input != ends.output && ["stream", "random"].contains(way)
  // A reader stays less than this many bytes ahead of its handlers, so the first handler is called
  // before the end of the file.
  let bytes = isFile ? pattern(16 << 20) : pattern(4000)
  let wrote = Moved()
  if isFile {
    fill(ends.output, bytes)
  } else {
    write(ends.output, bytes, bytes.count)
  }
  channel.io.setLimit(highWater: isFile ? 1 << 20 : 1000)
  let read = Moved {
    if $0 == 1 {
      // Small reads of a random-access channel are first tried with a call that does not block.
      let calls = way == "random" ? [call, FAULTS_PREADV2] : [call]
      check(
        calls.allSatisfy { faults_refuse_descriptor(ends.input, $0, EIO) == 0 },
        "the descriptor fails from now on")
    }
  }
  channel.io.read(offset: 0, length: .max, queue: channel.queue, ioHandler: read.handler)
  if !isFile {
    // The bytes that were there have been read; the next read makes the call that fails.
    check(eventually { read.bytes.count == bytes.count || read.isDone }, "all was read")
    write(ends.output, bytes, 10)
  }
  check(read.wait() && read.error == EIO, "the reader gets EIO")
  check(
    !read.bytes.isEmpty && read.bytes.elementsEqual(bytes.prefix(read.bytes.count)),
    "with all that was read before")
  check(!isFile || read.bytes.count < bytes.count, "which is not all")
  if way == "stream" {
    check(
      lseek(ends.input, 0, SEEK_CUR) == read.bytes.count, "and nothing that was read is missing")
  }
  if way != "pipe" {
    channel.io.write(
      offset: 0, data: data([1]), queue: channel.queue, ioHandler: wrote.handler)
    check(wrote.wait() && wrote.error == 0, "the other direction works")
  }
  let again = Moved()
  channel.io.read(offset: 0, length: 1, queue: channel.queue, ioHandler: again.handler)
  check(again.wait() && again.error == EIO && again.bytes.isEmpty, "the next gets EIO, too")
  check(channel.end() == [0], "the channel ends in order")
}

private func refuseWriting(_ way: String, _ type: DispatchIO.StreamType, _ ends: DescriptorPair) {
  let call =
    switch way {
    case "random": FAULTS_PWRITEV
    case "sockets": FAULTS_SENDMSG
    default: FAULTS_WRITEV
    }
  let channel = ProbeChannel(ends.output, type)
  // A writer, too, stays less than this many bytes ahead of its handlers.
  let bytes = pattern(2 << 20)
  channel.io.setLimit(highWater: 4096)
  let written = Moved {
    if $0 == 1 {
      check(
        faults_refuse_descriptor(ends.output, call, ENOSPC) == 0,
        "the descriptor fails from now on")
    }
  }
  let taken = Log<[UInt8]>()
  channel.io.write(
    offset: 0, data: data(bytes), queue: channel.queue, ioHandler: written.handler)
  // A full pipe waits for its reader, so read while the writer runs.
  let isTaken = eventually {
    take(ends.input, way, into: taken)
    return written.isDone
  }
  check(isTaken && written.wait() && written.error == ENOSPC, "the writer gets ENOSPC")
  take(ends.input, way, into: taken)
  let went = taken.all.reduce(into: [UInt8]()) { $0 += $1 }
  check(!went.isEmpty && !written.last.isEmpty, "some bytes were written, and some were not")
  check(went + written.last == bytes, "and both add up")
  let again = Moved()
  channel.io.write(offset: 0, data: data([1, 2]), queue: channel.queue, ioHandler: again.handler)
  check(
    again.wait() && again.error == ENOSPC && again.last == [1, 2], "the next gets ENOSPC, too")
  check(channel.end() == [0], "the channel ends in order")
}

/// Reads what is available now; of a file, what was written since the last read.
private func take(_ descriptor: Int32, _ way: String, into taken: Log<[UInt8]>) {
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
    taken.append(Array(buffer.prefix(count)))
  }
}

/// No descriptor can be opened at first.
func channelsWithoutDescriptors(_ words: [String]) {
  let folder = ScratchFolder()
  close(folder.file("file"))
  let ends = DescriptorPair.pipe()
  check(faults_limit(FAULTS_DESCRIPTORS, 0) == 0, "the limit holds")
  let refused = ProbeChannel(path: folder["file"], O_RDWR)
  let written = Moved()
  refused.io.write(offset: 0, data: data([1, 2]), queue: refused.queue, ioHandler: written.handler)
  check(written.wait() && written.error == EMFILE, "a writer gets EMFILE")
  check(written.last == [1, 2], "and given back what it wrote")
  check(refused.end() == [0], "the cleanup handler is not: there was a channel")
  let waiting = ProbeChannel(ends.input)
  let read = Moved()
  waiting.io.read(offset: 0, length: 3, queue: waiting.queue, ioHandler: read.handler)
  check(faults_limit(FAULTS_DESCRIPTORS, -1) == 0, "the limit is lifted")
  write(ends.output, [7, 8, 9] as [UInt8], 3)
  check(read.wait() && read.bytes == [7, 8, 9], "a channel of a descriptor continues")
  check(waiting.end() == [0], "and ends")
  let allowed = ProbeChannel(path: folder["file"], O_RDWR)
  let later = Moved()
  allowed.io.write(offset: 0, data: data([1, 2]), queue: allowed.queue, ioHandler: later.handler)
  check(later.wait() && later.error == 0, "the file can be opened")
  check(allowed.end() == [0], "and closed")
}

/// A process without rights uses files of another user.
func channelsUnprivileged(_ words: [String]) {
  guard let folder = variable("FAULTS_FOLDER") else { return check(false, "a folder") }
  check(faults_drop_privileges() == 0, "privileges are dropped")
  // The first three fail when they are opened. The others cannot be looked up, so there is no
  // channel.
  for (name, flags, cleanup) in [
    ("secret", O_RDONLY, 0), ("secret", O_WRONLY, 0), ("new", O_WRONLY | O_CREAT, 0),
    ("closed/file", O_RDONLY, EACCES), ("closed/new", O_WRONLY | O_CREAT, EACCES),
  ] {
    let channel = ProbeChannel(path: "\(folder)/\(name)", flags)
    let moved = Moved()
    if flags == O_RDONLY {
      channel.io.read(offset: 0, length: 5, queue: channel.queue, ioHandler: moved.handler)
    } else {
      channel.io.write(
        offset: 0, data: data([1, 2, 3]), queue: channel.queue, ioHandler: moved.handler)
    }
    check(moved.wait() && moved.error == EACCES, "\(name): EACCES is reported")
    check(moved.last == (flags == O_RDONLY ? [] : [1, 2, 3]), "\(name): nothing is lost")
    check(channel.end() == [cleanup], "\(name): the cleanup handler is given \(cleanup)")
  }
}

/// Signals repeatedly interrupt every interruptible system call.
func channelsUnderSignals(_ words: [String]) {
  check(faults_count_signal(SIGALRM) == 0, "signals are counted")
  check(faults_set_alarm(500) == 0, "there is one every half millisecond")
  let folder = ScratchFolder()
  let bytes = pattern(4 << 20)
  for way in ["file", "pipe", "sockets"] {
    let ends =
      switch way {
      case "pipe": DescriptorPair.pipe()
      case "sockets": DescriptorPair.sockets()
      default: DescriptorPair(input: folder.file("a"), output: folder.file("a"))
      }
    let (reader, writer) = (ProbeChannel(ends.input), ProbeChannel(ends.output))
    reader.io.setLimit(highWater: 30_000)
    let (read, written) = (Moved(), Moved())
    writer.io.write(
      offset: 0, data: data(bytes), queue: writer.queue, ioHandler: written.handler)
    if way == "file" { check(written.wait(), "\(way): it ends") }
    reader.io.read(
      offset: 0, length: bytes.count, queue: reader.queue, ioHandler: read.handler)
    check(written.wait() && read.wait(), "\(way): both end")
    check(written.error == 0 && read.error == 0, "\(way): without an error")
    check(read.bytes == bytes, "\(way): every byte comes once")
    check(reader.end() == [0] && writer.end() == [0], "\(way): the channels end")
    ends.closeBoth()
  }
  check(faults_set_alarm(0) == 0 && faults_signals() > 0, "signals came")
}

// MARK: Shared

/// A channel whose cleanup is recorded.
private struct ProbeChannel {
  let io: DispatchIO
  let queue = DispatchQueue(label: "handlers")
  private let cleanups: Log<Int32>

  init(_ descriptor: Int32, _ type: DispatchIO.StreamType = .stream) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    io = DispatchIO(type: type, fileDescriptor: descriptor, queue: .global()) {
      cleanups.append($0)
    }
  }

  init(path: String, _ flags: Int32) {
    let cleanups = Log<Int32>()
    self.cleanups = cleanups
    let made = DispatchIO(
      type: .stream, path: path, oflag: flags, mode: 0o600, queue: .global()
    ) { cleanups.append($0) }
    guard let made else { fatalError("not an absolute path: \(path)") }
    io = made
  }

  /// Closes the channel. Returns the errors that the cleanup handler received.
  func end() -> [Int32] {
    io.close()
    return cleanups.waitForCount(1) ? cleanups.all : []
  }
}

/// What the handlers of one operation received.
private final class Moved: @unchecked Sendable {
  private let monitor = Monitor()
  private let onCall: @Sendable (Int) -> Void
  private var calls: [[UInt8]] = []
  private var doneCount = 0
  private var lastError: Int32 = 0

  /// - Parameter onCall: called with its number before each call of the handler is recorded.
  init(_ onCall: @escaping @Sendable (Int) -> Void = { _ in }) { self.onCall = onCall }

  var handler: @Sendable (Bool, DispatchData?, Int32) -> Void {
    { [self] done, data, error in
      onCall(monitor.withLock { calls.count } + 1)
      monitor.change {
        calls.append(Array(data ?? .empty))
        doneCount += done ? 1 : 0
        lastError = error
      }
    }
  }

  func wait() -> Bool {
    monitor.wait(seconds: deadlineSeconds) { doneCount > 0 } && monitor.withLock { doneCount == 1 }
  }

  var isDone: Bool { monitor.withLock { doneCount > 0 } }
  var bytes: [UInt8] { monitor.withLock { calls.reduce(into: []) { $0 += $1 } } }
  var last: [UInt8] { monitor.withLock { calls.last ?? [] } }
  var error: Int32 { monitor.withLock { lastError } }
}

/// Returns bytes whose values show their position: their period is a prime number.
private func pattern(_ count: Int) -> [UInt8] {
  let once = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 &* 31) }
  var bytes: [UInt8] = []
  while bytes.count < count { bytes += once.prefix(count - bytes.count) }
  return bytes
}

private func data(_ bytes: [UInt8]) -> DispatchData {
  bytes.withUnsafeBytes { DispatchData(bytes: $0) }
}

private func fill(_ descriptor: Int32, _ bytes: [UInt8]) {
  var place = 0
  while place < bytes.count {
    let count = bytes[place...].withUnsafeBytes {
      pwrite(descriptor, $0.baseAddress, $0.count, off_t(place))
    }
    guard count > 0 else { fatalError("pwrite: errno \(errno)") }
    place += count
  }
}
