// Channels that cannot do what they are asked: contract row I1.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A channel that fails") struct DispatchIOErrorTests {
  let queue = DispatchQueue(label: "errors")
  let folder = ScratchFolder()

  /// The cleanup handler and each operation receive the error, and no byte is lost.
  private func expectNone(_ channel: TestChannel, _ error: Int32) {
    #expect(channel.cleanups.waitForCount(1))
    let read = channel.io.read(10, on: queue)
    let write = channel.io.write(pattern(10), on: queue)
    #expect(read.wait() && write.wait())
    #expect(read.error == error && read.last == nil)
    #expect(write.error == error && write.all == pattern(10))
    let barrier = Latch()
    channel.io.barrier { barrier.open() }
    #expect(barrier.wait())
    channel.io.close()
    settle()
    #expect(channel.cleanups.all == [error])
  }

  @Test func `has no descriptor: EBADF`() {
    expectNone(TestChannel(9999), EBADF)
    expectNone(TestChannel(-1, .random), EBADF)
  }

  @Test func `is of the wrong type: ESPIPE, EISDIR`() throws {
    let ends = DescriptorPair.pipe().madeBlocking
    expectNone(TestChannel(ends.input, .random), ESPIPE)
    // The channel releases its descriptor when the last handler has returned.
    #expect(eventually { !isNonBlocking(ends.input) })
    let directory = open(folder.path, O_RDONLY)
    expectNone(TestChannel(directory), EISDIR)
    expectNone(try #require(TestChannel(path: folder.path)), EISDIR)
    mkfifo(folder["fifo"], 0o600)
    expectNone(try #require(TestChannel(path: folder["fifo"], .random)), ESPIPE)
    close(directory)
    ends.closeBoth()
  }

  @Test func `has no path: ENOENT`() throws {
    expectNone(try #require(TestChannel(path: folder["missing"])), ENOENT)
    let flags = O_WRONLY | O_CREAT
    expectNone(try #require(TestChannel(path: folder["no/folder"], .stream, flags)), ENOENT)
    let dropped = Log<Int32>()
    _ = DispatchIO(
      type: .stream, path: folder["missing"], oflag: O_RDONLY, mode: 0, queue: queue
    ) { dropped.append($0) }
    #expect(dropped.waitForCount(1))
    #expect(dropped.all == [ENOENT])
  }

  /// The file exists when the channel is made; opening it fails later.
  private func expectLateError(_ channel: TestChannel, _ error: Int32) {
    let write = channel.io.write(pattern(3), on: queue)
    #expect(write.wait())
    #expect(write.error == error && write.all == pattern(3))
    let read = channel.io.read(3, on: queue)
    #expect(read.wait())
    #expect(read.error == error && read.last == nil)
    #expect(channel.cleanups.all == [])
    // Another channel for that file cannot be made; its cleanup handler receives the error.
    expectNone(TestChannel(of: channel, .stream), error)
    #expect(channel.end())
    #expect(channel.cleanups.all == [0])
  }

  @Test(arguments: [DispatchIO.StreamType.stream, .random])
  func `cannot be opened later: the error for its operations, 0 for the cleanup handler`(
    type: DispatchIO.StreamType
  ) throws {
    // ENXIO: a FIFO without a reader, open(2).
    mkfifo(folder["fifo"], 0o600)
    if type == .stream {
      expectLateError(try #require(TestChannel(path: folder["fifo"], type, O_WRONLY)), ENXIO)
    }
    close(folder.file("a"))
    let exclusive = O_RDWR | O_CREAT | O_EXCL
    expectLateError(try #require(TestChannel(path: folder["a"], type, exclusive)), EEXIST)
    symlink(folder["a"], folder["link"])
    let direct = O_RDWR | O_NOFOLLOW
    expectLateError(try #require(TestChannel(path: folder["link"], type, direct)), ELOOP)
  }

  @Test(.enabled(if: geteuid() != 0, "root may do all"))
  func `may not be opened: EACCES`() throws {
    close(folder.file("a"))
    chmod(folder["a"], 0)
    let channel = try #require(TestChannel(path: folder["a"]))
    let operation = channel.io.read(3, on: queue)
    #expect(operation.wait())
    #expect(operation.error == EACCES)
    #expect(channel.end())
    #expect(channel.cleanups.all == [0])
  }

  @Test func `is made of one that is closed: ECANCELED`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    #expect(channel.end())
    expectNone(TestChannel(of: channel, .stream), ECANCELED)
    ends.closeBoth()
  }

  @Test func `may only be read, or only be written: EBADF`() throws {
    close(folder.file("a"))
    for type in [DispatchIO.StreamType.stream, .random] {
      let reader = try #require(TestChannel(path: folder["a"], type))
      let write = reader.io.write(pattern(3), on: queue)
      #expect(write.wait())
      #expect(write.error == EBADF && write.all == pattern(3))
      #expect(reader.end())
      #expect(reader.cleanups.all == [0])
      let writer = try #require(TestChannel(path: folder["a"], type, O_WRONLY))
      let read = writer.io.read(3, on: queue)
      #expect(read.wait())
      #expect(read.error == EBADF)
      #expect(writer.end())
    }
  }

  @Test func `has no reader: EPIPE, and no signal`() {
    signal(SIGPIPE, SIG_DFL)
    for ends in [DescriptorPair.pipe(), DescriptorPair.sockets()] {
      let channel = TestChannel(ends.output)
      close(ends.input)
      for _ in 0..<3 {
        let operation = channel.io.write(pattern(10), on: queue)
        #expect(operation.wait())
        #expect(operation.error == EPIPE && operation.all == pattern(10))
      }
      #expect(channel.end())
      close(ends.output)
    }
  }

  @Test func `loses its reader midway: written and unwritten bytes add up`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.output)
    let bytes = pattern(1_000_000)
    let operation = channel.io.write(bytes, on: queue)
    #expect(eventually { ReadinessNow.isFull(ends.output) })
    let read = readBytes(ends.input, atMost: 10_000)
    #expect(eventually { ReadinessNow.isFull(ends.output) })
    close(ends.input)
    #expect(operation.wait())
    #expect(operation.error == EPIPE)
    let left = Array(operation.last ?? .empty)
    #expect(read == 10_000 && bytes.count - left.count >= read)
    #expect(left == Array(bytes.suffix(left.count)))
    #expect(channel.end())
    close(ends.output)
  }

  @Test func `is reset by its peer: ECONNRESET`() {
    let server = LoopbackServer(backlog: 1)
    let client = server.connect()
    var accepted: Int32 = -1
    #expect(
      eventually {
        accepted = accept(server.descriptor, nil, nil)
        return accepted >= 0
      })
    let channel = TestChannel(accepted)
    let operation = channel.io.read(10, on: queue)
    settle()
    // socket(7): close with a linger time of zero resets the connection.
    var immediately = linger(l_onoff: 1, l_linger: 0)
    setsockopt(client, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
    close(client)
    #expect(operation.wait())
    #expect(operation.error == ECONNRESET)
    #expect(channel.end())
    close(accepted)
    close(server.descriptor)
  }

  @Test func `finds the device full: ENOSPC`() throws {
    let channel = try #require(TestChannel(path: "/dev/full", .stream, O_WRONLY))
    let operation = channel.io.write(pattern(10), on: queue)
    #expect(operation.wait())
    #expect(operation.error == ENOSPC && operation.all == pattern(10))
    #expect(channel.end())
  }

  @Test(.enabled(if: geteuid() == 0, "only root mounts"))
  func `finds the disk full midway: written and unwritten bytes add up`() throws {
    mkdir(folder["disk"], 0o700)
    guard mount("tmpfs", folder["disk"], "tmpfs", 0, "size=256k") == 0 else { return }
    defer { umount2(folder["disk"], Int32(MNT_DETACH)) }
    let file = folder.file("disk/a")
    let bytes = pattern(1_000_000)
    for type in [DispatchIO.StreamType.stream, .random] {
      ftruncate(file, 0)
      lseek(file, 0, SEEK_SET)
      let channel = TestChannel(file, type)
      channel.io.setLimit(highWater: 10_000)
      let operation = channel.io.write(bytes, on: queue)
      #expect(operation.wait())
      #expect(operation.error == ENOSPC)
      let left = Array(operation.last ?? .empty)
      #expect(content(file, bytes.count) + left == bytes)
      #expect(left.count < bytes.count)
      #expect(channel.end())
    }
    close(file)
  }

  @Test func `has its descriptor closed by the program`() {
    // A high number, which no other descriptor gets meanwhile.
    let ends = DescriptorPair.pipe()
    let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
    let channel = TestChannel(number)
    close(number)
    let operation = channel.io.read(10, on: queue)
    #expect(operation.wait())
    #expect(operation.error == EBADF)
    #expect(channel.end())
    #expect(channel.cleanups.all == [0])
    ends.closeBoth()
  }

  @Test func `has it closed while it waits: EBADF when the channel is closed, and a report`()
    async throws
  {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let ends = DescriptorPair.pipe()
      let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
      let channel = TestChannel(number)
      channel.io.setLimit(lowWater: 1)
      let operation = channel.io.read(10, on: .global())
      writeBytes(ends.output, 3)
      #expect(operation.waitForPieces(1))
      #expect(eventually { isWatchedForReading(number) })
      close(number)
      channel.io.close()
      #expect(operation.wait())
      #expect(operation.error == EBADF && operation.all.count == 3)
      #expect(channel.cleanups.waitForCount(1))
      #expect(channel.cleanups.all == [0])
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("of descriptor 700"), "\(errors)")
    #expect(errors.contains("was closed before"), "\(errors)")
  }

  @Test func `has its number given to another file while it waits: EBADF, and no byte of that`()
    async
  {
    _ = await #expect(processExitsWith: .success) {
      let (ends, others) = (DescriptorPair.pipe(), DescriptorPair.pipe())
      let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
      let channel = TestChannel(number)
      let operation = channel.io.read(10, on: .global())
      #expect(eventually { isWatchedForReading(number) })
      dup2(others.input, number)
      writeBytes(others.output, 5)
      let other = TestChannel(number)
      let seen = other.io.read(5, on: .global())
      #expect(seen.wait() && operation.wait())
      #expect(seen.error == 0 && seen.all.count == 5)
      #expect(operation.error == EBADF && operation.all.isEmpty)
      let late = channel.io.read(10, on: .global())
      #expect(late.wait())
      #expect(late.error == EBADF)
      #expect(channel.end() && other.end())
    }
  }
}

@Suite("Descriptors that share their flags") struct DispatchIOFlagsTests {
  let queue = DispatchQueue(label: "flags")

  @Test(arguments: [true, false])
  func `block again when the last of their channels has gone`(firstLeavesFirst: Bool) {
    let ends = DescriptorPair.pipe().madeBlocking
    let second = fcntl(ends.input, F_DUPFD_CLOEXEC, 0)
    var channels = [TestChannel(ends.input), TestChannel(second)]
    if !firstLeavesFirst { channels.reverse() }
    let reads = channels.map { $0.io.read(3, on: queue) }
    writeBytes(ends.output, 3)
    #expect(eventually { reads.contains { $0.isDone } })
    writeBytes(ends.output, 3)
    #expect(reads.allSatisfy { $0.wait() })
    #expect(channels[0].end())
    #expect(isNonBlocking(ends.input) && isNonBlocking(second))
    let waits = channels[1].io.read(3, on: queue)
    settle()
    writeBytes(ends.output, 3)
    #expect(waits.wait())
    #expect(channels[1].end())
    #expect(!isNonBlocking(ends.input) && !isNonBlocking(second))
    close(second)
    ends.closeBoth()
  }

  @Test func `are those of one open file description`() {
    let folder = ScratchFolder()
    mkfifo(folder["fifo"], 0o600)
    let numbers = (0..<2).map { _ in open(folder["fifo"], O_RDWR | O_CLOEXEC) }
    let channels = numbers.map { TestChannel($0) }
    #expect(numbers.allSatisfy(isNonBlocking))
    #expect(channels[0].end())
    #expect(!isNonBlocking(numbers[0]) && isNonBlocking(numbers[1]))
    #expect(channels[1].end())
    #expect(!isNonBlocking(numbers[1]))
    for number in numbers { close(number) }
  }
}
