// Channels of files, and the convenience functions: contract rows I1, I4, I6.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A channel of a file") struct DispatchIOFileTests {
  let queue = DispatchQueue(label: "file")
  let folder = ScratchFolder()

  @Test func `reads in pieces up to the end, and then has no more`() {
    let file = folder.file("a")
    let bytes = pattern(2_500_000)
    fill(file, bytes)
    let channel = TestChannel(file)
    channel.io.setLimit(highWater: 1_000_000)
    let result = channel.io.read(on: queue)
    #expect(result.wait())
    #expect(result.all == bytes)
    #expect(result.pieces.allSatisfy { $0! <= 1_000_000 })
    #expect(result.last?.count == 0 && result.error == 0)
    let past = channel.io.read(10, on: queue)
    #expect(past.wait())
    #expect(past.pieces == [0])
    #expect(channel.end())
    close(file)
  }

  @Test func `delivers everything in one call with the highest low water mark`() {
    let file = folder.file("a")
    let bytes = pattern(3_000_000)
    fill(file, bytes)
    let channel = TestChannel(file)
    channel.io.setLimit(lowWater: .max)
    let result = channel.io.read(bytes.count, on: queue)
    #expect(result.wait())
    #expect(result.pieces == [bytes.count])
    #expect(result.all == bytes)
    #expect(channel.end())
    close(file)
  }

  @Test func `writes and reads in order at the position that both share`() {
    let file = folder.file("a")
    let channel = TestChannel(file)
    let wrote = channel.io.write(pattern(10), on: queue)
    let nothing = channel.io.read(5, on: queue)
    channel.io.barrier { lseek(file, 2, SEEK_SET) }
    let read = channel.io.read(5, on: queue)
    let over = channel.io.write([0, 0, 0, 0, 0], on: queue)
    #expect(wrote.wait() && nothing.wait() && read.wait() && over.wait())
    #expect(nothing.pieces == [0])
    #expect(read.all == pattern(5, from: 2))
    #expect(content(file, 100) == pattern(7) + [0, 0, 0, 0, 0])
    #expect(channel.end())
    close(file)
  }

  @Test func `counts random offsets from where the descriptor stood`() {
    let file = folder.file("a")
    fill(file, pattern(100))
    lseek(file, 10, SEEK_SET)
    let channel = TestChannel(file, .random)
    let reads = (0..<90).map { channel.io.read(3, at: off_t($0), on: queue) }
    for (offset, result) in reads.enumerated() {
      #expect(result.wait())
      #expect(result.all == Array(pattern(100)[(10 + offset)...].prefix(3)))
    }
    let before = channel.io.read(3, at: -10, on: queue)
    #expect(before.wait())
    #expect(before.all == pattern(3))
    let nowhere = channel.io.read(3, at: -11, on: queue)
    #expect(nowhere.wait())
    #expect(nowhere.error == EINVAL)
    let past = channel.io.read(3, at: 5000, on: queue)
    #expect(past.wait())
    #expect(past.pieces == [0] && past.error == 0)
    let far = channel.io.write([1], at: .max, on: queue)
    #expect(far.wait())
    #expect(far.error == EINVAL && far.all == [1])
    #expect(lseek(file, 0, SEEK_CUR) == 10)
    #expect(channel.end())
    close(file)
  }

  @Test func `writes at random offsets, many at a time`() {
    let file = folder.file("a")
    let channel = TestChannel(file, .random)
    let results = (0..<200).reversed().map { place in
      channel.io.write(pattern(1001, from: place), at: off_t(place * 1001), on: .global())
    }
    let log = Latch()
    channel.io.barrier {
      fsync(file)
      log.open()
    }
    #expect(log.wait())
    #expect(content(file, 300_000) == (0..<200).flatMap { pattern(1001, from: $0) })
    #expect(results.allSatisfy { $0.wait() && $0.error == 0 && $0.last == nil })
    #expect(channel.end())
    close(file)
  }

  @Test func `writes data of many pieces`() {
    let file = folder.file("a")
    var data = DispatchData.empty
    for place in 0..<300 { data.append(DispatchData(client: pattern(7, from: place))) }
    #expect(data.regions.count == 300)
    let channel = TestChannel(file)
    let result = IOResult()
    channel.io.write(offset: 0, data: data, queue: queue, ioHandler: result.handler)
    #expect(result.wait())
    #expect(content(file, 10_000) == Array(data))
    #expect(channel.end())
    close(file)
  }

  @Test func `does nothing in order when nothing is asked for`() {
    let file = folder.file("a")
    let channel = TestChannel(file)
    let (read, write) = (channel.io.read(0, on: queue), channel.io.write([], on: queue))
    #expect(read.wait() && write.wait())
    #expect(read.pieces == [0] && write.pieces == [nil])
    #expect(channel.end())
    close(file)
  }

  @Test(arguments: [DispatchIO.CloseFlags(), .stop])
  func `has a descriptor inside a barrier from before it was closed`(
    flags: DispatchIO.CloseFlags
  ) throws {
    let channel = try #require(TestChannel(path: folder["closed"], .stream, O_RDWR | O_CREAT))
    let seen = Log<Int32>()
    let release = DispatchSemaphore(value: 0)
    channel.io.barrier { release.wait() }
    channel.io.barrier { [io = channel.io] in
      seen.append(io.fileDescriptor)
      seen.append(fsync(io.fileDescriptor))
    }
    channel.io.close(flags: flags)
    release.signal()
    #expect(channel.end())
    #expect(seen.all.count == 2 && seen.all[0] >= 0 && seen.all[1] == 0)
    #expect(channel.io.fileDescriptor == -1)
  }

  @Test func `is opened by path at its first operation, and closed at the end`() throws {
    let channel = try #require(TestChannel(path: folder["new"], .random, O_RDWR | O_CREAT))
    settle()
    #expect(channel.io.fileDescriptor == -1)
    #expect(access(folder["new"], F_OK) != 0)
    let seen = Log<Int32>()
    channel.io.barrier { [io = channel.io] in seen.append(io.fileDescriptor) }
    #expect(seen.waitForCount(1))
    #expect(seen.all[0] >= 0 && channel.io.fileDescriptor == seen.all[0])
    let result = channel.io.write(pattern(5), at: 3, on: queue)
    #expect(result.wait())
    let stream = TestChannel(of: channel, .stream)
    let read = stream.io.read(on: queue)
    #expect(read.wait())
    #expect(read.all == [0, 0, 0] + pattern(5))
    channel.io.close()
    #expect(stream.end())
    #expect(channel.end())
    #expect(channel.cleanups.all == [0] && stream.cleanups.all == [0])
    #expect(!isOpen(folder["new"]))
  }

  @Test func `has a path of any bytes`() {
    // File names on Linux need not be UTF-8. A name that is not UTF-8 must not match another file.
    let name = folder["x"].utf8CString.dropLast(2) + [-1, 0x2E, -64, 0]
    for (flags, text) in [(O_WRONLY | O_CREAT, "new"), (O_RDONLY, "old")] {
      let ended = Log<Int32>()
      let io = name.withUnsafeBufferPointer { bytes in
        DispatchIO(
          type: .stream, path: bytes.baseAddress!, oflag: flags, mode: 0o600, queue: queue
        ) { ended.append($0) }
      }
      let result = text == "new" ? io?.write(pattern(5), on: queue) : io?.read(on: queue)
      #expect(result?.wait() == true)
      #expect(result?.error == 0 && (text == "new" || result?.all == pattern(5)))
      io?.close()
      #expect(ended.waitForCount(1))
      #expect(ended.all == [0])
    }
    #expect(name.withUnsafeBufferPointer { unlink($0.baseAddress!) } == 0)
  }

  @Test func `needs an absolute path`() {
    #expect(TestChannel(path: "relative") == nil)
  }

  @Test func `never opened is cleaned up all the same`() throws {
    let channel = try #require(TestChannel(path: "/dev/null"))
    #expect(channel.end())
    #expect(channel.cleanups.all == [0])
  }

  @Test(arguments: ["/dev/zero", "/dev/null"])
  func `reads and writes devices`(path: String) throws {
    for type in [DispatchIO.StreamType.stream, .random] {
      let channel = try #require(TestChannel(path: path, type, O_RDWR))
      let result = channel.io.read(100_000, on: queue)
      let wrote = channel.io.write(pattern(100_000), on: queue)
      #expect(result.wait() && wrote.wait())
      #expect(result.all.count == (path == "/dev/zero" ? 100_000 : 0))
      #expect(wrote.last == nil && wrote.error == 0)
      #expect(channel.end())
    }
  }
}

@Suite("One read or write without a channel") struct DispatchIOOnceTests {
  let queue = DispatchQueue(label: "once")

  @Test func `reads available bytes, and waits for the first one`() {
    let ends = DescriptorPair.pipe().madeBlocking
    let log = Log<(Int, Int32)>()
    let read = {
      DispatchIO.read(fromFileDescriptor: ends.input, maxLength: 100, runningHandlerOn: queue) {
        log.append(($0.count, $1))
      }
    }
    read()
    settle()
    #expect(log.count == 0)
    writeBytes(ends.output, 5)
    #expect(log.waitForCount(1))
    #expect(log.all[0] == (5, 0))
    // The caller owns the descriptor again.
    #expect(!isNonBlocking(ends.input))
    writeBytes(ends.output, 150)
    read()
    #expect(log.waitForCount(2))
    read()
    #expect(log.waitForCount(3))
    #expect(log.all[1] == (100, 0) && log.all[2] == (50, 0))
    close(ends.output)
    read()
    #expect(log.waitForCount(4))
    #expect(log.all[3] == (0, 0))
    close(ends.input)
  }

  @Test func `reads a file up to its end`() {
    let folder = ScratchFolder()
    let file = folder.file("a")
    let bytes = pattern(3_000_001)
    fill(file, bytes)
    let log = Log<[UInt8]>()
    DispatchIO.read(fromFileDescriptor: file, maxLength: .max, runningHandlerOn: queue) {
      data, error in
      #expect(error == 0)
      log.append(Array(data))
    }
    #expect(log.waitForCount(1))
    #expect(log.all[0] == bytes)
    close(file)
  }

  @Test func `writes all, in order with channels that stay open`() {
    let ends = DescriptorPair.sockets()
    let channel = TestChannel(ends.output)
    let result = channel.io.write(pattern(300_000), on: queue)
    let log = Log<Int32>()
    DispatchIO.write(
      toFileDescriptor: ends.output, data: DispatchData(pattern(300_000, from: 300_000)),
      runningHandlerOn: queue
    ) {
      #expect($0 == nil)
      log.append($1)
    }
    let reader = TestChannel(ends.input)
    let read = reader.io.read(600_000, on: queue)
    #expect(result.wait() && read.wait())
    #expect(log.waitForCount(1))
    #expect(log.all == [0])
    #expect(read.all == pattern(600_000))
    #expect(channel.end() && reader.end())
    ends.closeBoth()
  }

  @Test func `reports a bad descriptor`() {
    let log = Log<(Int, Int32)>()
    DispatchIO.read(fromFileDescriptor: 9999, maxLength: 1, runningHandlerOn: queue) {
      log.append(($0.count, $1))
    }
    DispatchIO.write(
      toFileDescriptor: 9999, data: DispatchData(pattern(3)), runningHandlerOn: queue
    ) { log.append(($0?.count ?? -1, $1)) }
    #expect(log.waitForCount(2))
    #expect(log.all[0] == (0, EBADF) && log.all[1] == (3, EBADF))
  }
}
