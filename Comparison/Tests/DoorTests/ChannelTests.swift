// Channels, in the behaviour that both engines share. Not tested, because the toolchain's differs:
//   the order of operations over several channels of one descriptor: it alternates between channels
//   a path that is not absolute: its initialiser returns an object, whose use then crashes
import Glibc
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

@Suite("A channel, the same source") struct SameChannelTests {
  let queue = DispatchQueue(label: "door.channel")
  let folder = ScratchFolder()

  @Test func `reads a file in pieces up to its end, and then no more`() {
    let file = madeFile("a", numbers(250_000))
    let channel = Channel(file)
    channel.io.setLimit(highWater: 70_000)
    let result = channel.read()
    #expect(result.wait())
    #expect(result.bytes == numbers(250_000) && result.error == 0)
    #expect(result.pieces.allSatisfy { $0 <= 70_000 })
    let past = channel.read(10)
    #expect(past.wait())
    #expect(past.bytes.isEmpty && past.error == 0)
    #expect(channel.end() == 0)
    close(file)
  }

  @Test func `carries bytes between sockets, whatever the limits are`() {
    let ends = DescriptorPair.sockets()
    let (writer, reader) = (Channel(ends.output), Channel(ends.input))
    writer.io.setLimit(highWater: 10_000)
    reader.io.setLimit(lowWater: 5_000)
    let bytes = numbers(300_003)
    let result = reader.read(bytes.count)
    let written = writer.write(bytes)
    #expect(written.wait() && result.wait())
    #expect(result.bytes == bytes && result.error == 0 && written.error == 0)
    #expect(writer.end() == 0 && reader.end() == 0)
    ends.closeBoth()
  }

  @Test func `delivers bytes as they arrive, with a low water mark of 1`() {
    let ends = DescriptorPair.pipe()
    let channel = Channel(ends.input)
    channel.io.setLimit(lowWater: 1)
    let result = channel.read()
    writeBytes(ends.output, 5)
    #expect(eventually { result.bytes.count == 5 })
    writeBytes(ends.output, 7)
    #expect(eventually { result.bytes.count == 12 })
    #expect(!result.isDone)
    close(ends.output)
    #expect(result.wait())
    #expect(result.error == 0)
    #expect(channel.end() == 0)
    close(ends.input)
  }

  @Test func `reads and writes at random offsets`() {
    let file = madeFile("a", numbers(100_000))
    let channel = Channel(file, .random)
    let results = (0..<50).map { channel.read(1000, at: off_t(99_000 - $0 * 1500)) }
    for (index, result) in results.enumerated() {
      #expect(result.wait())
      #expect(result.bytes == numbers(1000, from: 99_000 - index * 1500))
    }
    let over = channel.write([1, 2, 3], at: 200_000)
    #expect(over.wait())
    #expect(over.error == 0)
    let hole = channel.read(10, at: 199_995)
    #expect(hole.wait())
    #expect(hole.bytes == [0, 0, 0, 0, 0, 1, 2, 3])
    #expect(channel.end() == 0)
    close(file)
  }

  @Test func `runs operations in order`() {
    let ends = DescriptorPair.pipe()
    let channel = Channel(ends.input)
    let results = (0..<20).map { _ in channel.read(3) }
    write(ends.output, numbers(60), 60)
    for (index, result) in results.enumerated() {
      #expect(result.wait())
      #expect(result.bytes == numbers(3, from: 3 * index))
    }
    #expect(channel.end() == 0)
    ends.closeBoth()
  }

  @Test func `runs a barrier after all before it and before all after it`() {
    let file = madeFile("a", numbers(10))
    let channel = Channel(file)
    let log = Log<String>()
    let first = channel.read(4)
    channel.io.barrier { [io = channel.io] in
      log.append("barrier on \(io.fileDescriptor == file)")
      lseek(file, 2, SEEK_SET)
    }
    let second = channel.read(4)
    #expect(first.wait() && second.wait())
    #expect(first.bytes == numbers(4) && second.bytes == numbers(4, from: 2))
    #expect(log.all == ["barrier on true"])
    #expect(channel.end() == 0)
    close(file)
  }

  @Test func `ends its operations when it is closed, and accepts no more`() {
    let ends = DescriptorPair.pipe()
    let channel = Channel(ends.input)
    let result = channel.read(10)
    channel.io.close()
    let late = channel.read(10)
    #expect(late.wait())
    #expect(late.error == ECANCELED && late.bytes.isEmpty)
    #expect(channel.cleanups.count == 0)
    writeBytes(ends.output, 10)
    #expect(result.wait())
    #expect(result.error == 0 && result.bytes.count == 10)
    #expect(channel.end() == 0)
    ends.closeBoth()
  }

  @Test func `ends its operations when it is stopped`() {
    let ends = DescriptorPair.pipe()
    let channel = Channel(ends.input)
    let results = [channel.read(10), channel.read(10)]
    channel.io.close(flags: .stop)
    for result in results {
      #expect(result.wait())
      #expect(result.error == ECANCELED && result.bytes.isEmpty)
    }
    #expect(channel.end() == 0)
    ends.closeBoth()
  }

  @Test func `returns what it has not written when it is stopped`() {
    let ends = DescriptorPair.sockets()
    let channel = Channel(ends.output)
    let bytes = numbers(500_000)
    let result = channel.write(bytes)
    #expect(eventually { ReadinessNow.isFull(ends.output) })
    channel.io.close(flags: .stop)
    #expect(result.wait())
    #expect(result.error == ECANCELED)
    #expect(channel.end() == 0)
    close(ends.output)
    var got: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = read(ends.input, &buffer, buffer.count), count > 0 {
      got += buffer.prefix(count)
    }
    #expect(got + result.last == bytes)
    close(ends.input)
  }

  @Test func `makes a file by its path, and closes it`() throws {
    let made = try #require(Channel(path: folder["new"], O_WRONLY | O_CREAT))
    let result = made.write(numbers(300_000))
    #expect(result.wait())
    #expect(result.error == 0)
    #expect(made.end() == 0)
    let channel = try #require(Channel(path: folder["new"], O_RDONLY))
    let read = channel.read()
    #expect(read.wait())
    #expect(read.bytes == numbers(300_000))
    #expect(channel.end() == 0)
  }

  @Test func `reports why it cannot be created`() throws {
    let missing = try #require(Channel(path: folder["missing"], O_RDONLY))
    #expect(missing.cleanups.waitForCount(1))
    #expect(missing.cleanups.all == [ENOENT])
    let closed = Channel(9999)
    #expect(closed.cleanups.waitForCount(1))
    #expect(closed.cleanups.all == [EBADF])
    for channel in [missing, closed] {
      let result = channel.read(10)
      #expect(result.wait())
      #expect(result.error == channel.cleanups.all[0] && result.bytes.isEmpty)
    }
    let ends = DescriptorPair.pipe()
    let seekless = Channel(ends.input, .random)
    #expect(seekless.cleanups.waitForCount(1))
    #expect(seekless.cleanups.all == [ESPIPE])
    ends.closeBoth()
  }

  @Test func `is made of another, for the same file`() {
    let file = madeFile("a", numbers(100))
    let first = Channel(file)
    let second = Channel(of: first, .random)
    let result = second.read(10, at: 50)
    #expect(result.wait())
    #expect(result.bytes == numbers(10, from: 50))
    first.io.close()
    #expect(second.end() == 0 && first.end() == 0)
    close(file)
  }

  @Test func `is closed by its last reference`() {
    let ends = DescriptorPair.pipe()
    let cleanups = Log<Int32>()
    let result = IOResult()
    do {
      let io = DispatchIO(type: .stream, fileDescriptor: ends.input, queue: queue) {
        cleanups.append($0)
      }
      io.read(offset: 0, length: 3, queue: queue, ioHandler: result.handler)
    }
    #expect(cleanups.count == 0)
    writeBytes(ends.output, 3)
    #expect(result.wait())
    #expect(cleanups.waitForCount(1))
    #expect(cleanups.all == [0])
    ends.closeBoth()
  }

  @Test func `reads and writes once, without a channel`() {
    let ends = DescriptorPair.sockets()
    let (read, written) = (Log<[UInt8]>(), Log<Int32>())
    DispatchIO.read(fromFileDescriptor: ends.input, maxLength: 100, runningHandlerOn: queue) {
      data, error in
      #expect(error == 0)
      read.append(Array(data))
    }
    DispatchIO.write(
      toFileDescriptor: ends.output, data: copiedData(numbers(70)), runningHandlerOn: queue
    ) { rest, error in
      #expect(rest == nil)
      written.append(error)
    }
    #expect(written.waitForCount(1) && read.waitForCount(1))
    #expect(written.all == [0] && read.all == [numbers(70)])
    ends.closeBoth()
  }

  @Test func `carries every byte once and in order, in pieces of any size`() {
    var random = SeededGenerator(for: "channels through either door")
    for round in 0..<stressed(20) {
      let ends = round % 2 == 0 ? DescriptorPair.pipe() : .sockets()
      let (writer, reader) = (Channel(ends.output), Channel(ends.input))
      for channel in [writer, reader] {
        channel.io.setLimit(highWater: .random(in: 1000...200_000, using: &random))
      }
      var sent: [UInt8] = []
      var writes: [IOResult] = []
      for index in 0..<Int.random(in: 1...10, using: &random) {
        let bytes = numbers(.random(in: 1...90_000, using: &random), from: index * 7)
        sent += bytes
        writes.append(writer.write(bytes))
      }
      var reads: [IOResult] = []
      var left = sent.count
      while left > 0 {
        let count = Int.random(in: 1...min(left, 90_000), using: &random)
        reads.append(reader.read(count))
        left -= count
      }
      #expect(writes.allSatisfy { $0.wait() && $0.error == 0 })
      #expect(reads.allSatisfy { $0.wait() && $0.error == 0 })
      #expect(reads.flatMap(\.bytes) == sent)
      #expect(writer.end() == 0 && reader.end() == 0)
      ends.closeBoth()
    }
  }

  private func madeFile(_ name: String, _ bytes: [UInt8]) -> Int32 {
    let file = folder.file(name)
    var place = 0
    while place < bytes.count {
      let count = bytes[place...].withUnsafeBytes {
        pwrite(file, $0.baseAddress, $0.count, off_t(place))
      }
      guard count > 0 else { fatalError("pwrite: errno \(errno)") }
      place += count
    }
    return file
  }
}
