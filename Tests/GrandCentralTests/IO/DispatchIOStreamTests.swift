// Channels of pipes and sockets: contract rows I1, I3, I4, I5.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A stream channel") struct DispatchIOStreamTests {
  let queue = DispatchQueue(label: "stream")

  @Test(arguments: ["pipe", "sockets", "terminal"])
  func `reads bytes as they arrive, and ends with no bytes at the end`(kind: String) {
    let ends =
      switch kind {
      case "pipe": DescriptorPair.pipe().madeBlocking
      case "sockets": DescriptorPair.sockets().madeBlocking
      default: DescriptorPair.terminal()
      }
    let channel = TestChannel(ends.input)
    channel.io.setLimit(lowWater: 1)
    let result = channel.io.read(on: queue)
    write(ends.output, "abc\n", 4)
    #expect(result.waitForPieces(1))
    write(ends.output, "de\n", 3)
    #expect(result.waitForPieces(2))
    #expect(!result.isDone)
    close(ends.output)
    #expect(result.wait())
    #expect(result.all == Array("abc\nde\n".utf8))
    // A terminal that is hanging up may return EIO.
    #expect(result.error == 0 || kind == "terminal" && result.error == EIO)
    #expect(result.last?.count ?? 0 == 0)
    #expect(channel.end())
    #expect(channel.cleanups.all == [0])
    close(ends.input)
  }

  @Test func `stores small pieces that arrive one by one in shared buffers`() throws {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    let result = channel.io.read(3_000, on: queue)
    for _ in 0..<300 {
      writeBytes(ends.output, 10)
      let isRead = eventually {
        var look = pollfd(fd: ends.input, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, 0) == 0
      }
      #expect(isRead)
    }
    #expect(result.wait())
    let regions = try #require(result.last).regions
    #expect(result.all.count == 3_000 && regions.count < 30, "\(regions)")
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test func `holds handlers back until the low water mark is reached`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    channel.io.setLimit(lowWater: 10)
    let result = channel.io.read(25, on: queue)
    for _ in 0..<9 { writeBytes(ends.output, 1) }
    settle()
    #expect(result.pieces.isEmpty)
    writeBytes(ends.output, 3)
    #expect(result.waitForPieces(1))
    #expect(result.pieces == [12])
    writeBytes(ends.output, 13)
    #expect(result.wait())
    #expect(result.pieces == [12, 13])
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test func `passes handlers no more than the high water mark`() {
    let ends = DescriptorPair.sockets()
    let channel = TestChannel(ends.input)
    channel.io.setLimit(highWater: 7)
    let result = channel.io.read(20, on: queue)
    writeBytes(ends.output, 30)
    #expect(result.wait())
    #expect(result.pieces == [7, 7, 6])
    // The bytes that were not requested are still in the pipe.
    #expect(readBytes(ends.input) == 10)
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test func `writes all, and reports at the marks what is left`() {
    let ends = DescriptorPair.sockets().madeBlocking
    let channel = TestChannel(ends.output)
    channel.io.setLimit(highWater: 1000)
    let bytes = pattern(1_000_003)
    let result = channel.io.write(bytes, on: queue)
    let reader = TestChannel(ends.input)
    let read = reader.io.read(bytes.count, on: queue)
    #expect(result.wait())
    #expect(read.wait())
    #expect(read.all == bytes)
    #expect(result.error == 0 && result.last == nil)
    let left = result.pieces.dropLast().compactMap { $0 }
    #expect(left.count == result.pieces.count - 1)
    #expect(zip([bytes.count] + left, left).allSatisfy { (1...1000).contains($0 - $1) })
    #expect(channel.end())
    #expect(reader.end())
    #expect(!isNonBlocking(ends.input) && !isNonBlocking(ends.output))
    ends.closeBoth()
  }

  @Test func `is non-blocking while it is open, and then as it was`() {
    let ends = DescriptorPair.pipe().madeBlocking
    let channel = TestChannel(ends.input)
    #expect(isNonBlocking(ends.input))
    let result = channel.io.read(1, on: queue)
    writeBytes(ends.output, 1)
    #expect(result.wait())
    #expect(channel.end())
    #expect(!isNonBlocking(ends.input))
    let other = DescriptorPair.pipe()
    #expect(TestChannel(other.input).end())
    #expect(isNonBlocking(other.input))
    ends.closeBoth()
    other.closeBoth()
  }

  @Test func `runs operations in order, over all channels of the descriptor`() {
    let ends = DescriptorPair.pipe()
    let first = TestChannel(ends.input)
    let second = TestChannel(ends.input)
    let third = TestChannel(of: first, .stream)
    let results = (0..<30).map { index in
      [first, second, third][index % 3].io.read(3, on: queue)
    }
    write(ends.output, pattern(90), 90)
    for (index, result) in results.enumerated() {
      #expect(result.wait())
      #expect(result.all == pattern(3, from: 3 * index))
    }
    first.io.close()
    second.io.close()
    settle()
    // The client owns the descriptor again only when all channels have released it.
    #expect(first.cleanups.count == 0 && second.cleanups.count == 0)
    #expect(third.end())
    #expect(first.cleanups.waitForCount(1) && second.cleanups.waitForCount(1))
    ends.closeBoth()
  }

  @Test func `writes while a read waits`() {
    let ends = DescriptorPair.sockets()
    let channel = TestChannel(ends.input)
    let read = channel.io.read(5, on: queue)
    let written = channel.io.write(pattern(100), on: queue)
    #expect(written.wait())
    #expect(!read.isDone)
    #expect(readBytes(ends.output) == 100)
    writeBytes(ends.output, 5)
    #expect(read.wait())
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test(arguments: [true, false])
  func `runs handlers one at a time and in order, also on a concurrent queue`(isGlobal: Bool) {
    let ends = DescriptorPair.sockets()
    let queue =
      isGlobal ? .global() : DispatchQueue(label: "handlers", attributes: .concurrent)
    let reader = TestChannel(ends.input)
    reader.io.setLimit(highWater: 100)
    let writer = TestChannel(ends.output)
    let bytes = pattern(300_000)
    let result = reader.io.read(bytes.count, on: queue)
    let written = writer.io.write(bytes, on: queue)
    #expect(result.wait() && written.wait())
    #expect(result.all == bytes)
    #expect(reader.end() && writer.end())
    ends.closeBoth()
  }

  @Test func `ends its operations when it is closed, and accepts no more`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    let result = channel.io.read(10, on: queue)
    channel.io.close()
    let late = channel.io.read(10, on: queue)
    #expect(late.wait())
    #expect(late.error == ECANCELED && late.last == nil)
    let lateWrite = channel.io.write(pattern(4), on: queue)
    #expect(lateWrite.wait())
    #expect(lateWrite.error == ECANCELED && lateWrite.all == pattern(4))
    #expect(channel.io.fileDescriptor == -1)
    settle()
    #expect(!result.isDone && channel.cleanups.count == 0)
    writeBytes(ends.output, 10)
    #expect(result.wait())
    #expect(result.error == 0 && result.all.count == 10)
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test func `that is stopped ends its operations, with what they have`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    let results = (0..<3).map { _ in channel.io.read(10, on: queue) }
    writeBytes(ends.output, 4)
    #expect(eventually { fillLevel(ends.input) == 0 })
    #expect(channel.end(.stop))
    for result in results {
      #expect(result.wait())
      #expect(result.error == ECANCELED)
    }
    #expect(results.map { $0.all.count } == [4, 0, 0])
    ends.closeBoth()
  }

  @Test func `that is stopped returns what it has not written`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.output)
    let bytes = pattern(500_000)
    let results = [channel.io.write(bytes, on: queue), channel.io.write([1, 2, 3], on: queue)]
    #expect(eventually { ReadinessNow.isFull(ends.output) })
    #expect(channel.end(.stop))
    #expect(results[0].wait() && results[1].wait())
    #expect(results[0].error == ECANCELED && results[1].error == ECANCELED)
    var count = 0
    while case let more = readBytes(ends.input), more > 0 { count += more }
    #expect(Array(results[0].last ?? .empty) == Array(bytes[count...]))
    #expect(results[1].all == [1, 2, 3])
    ends.closeBoth()
  }

  @Test func `is closed by its last reference, after its operations`() {
    let ends = DescriptorPair.pipe()
    let result = IOResult()
    let cleanups = Log<Int32>()
    do {
      let channel = DispatchIO(type: .stream, fileDescriptor: ends.input, queue: queue) {
        cleanups.append($0)
      }
      channel.read(offset: 0, length: 3, queue: queue, ioHandler: result.handler)
    }
    settle()
    #expect(cleanups.count == 0)
    writeBytes(ends.output, 3)
    #expect(result.wait())
    #expect(cleanups.waitForCount(1))
    #expect(cleanups.all == [0])
    ends.closeBoth()
  }

  @Test func `runs a barrier after all before it and before all after it`() {
    let ends = DescriptorPair.pipe()
    let channels = [TestChannel(ends.input), TestChannel(ends.input)]
    let log = Log<String>()
    let first = channels[0].io.read(2, on: queue)
    channels[1].io.barrier { [io = channels[1].io] in
      settle()
      log.append("barrier on \(io.fileDescriptor)")
    }
    channels[0].io.read(offset: 0, length: 2, queue: queue) { done, _, _ in
      if done { log.append("after") }
    }
    writeBytes(ends.output, 2)
    #expect(first.wait())
    writeBytes(ends.output, 2)
    #expect(log.waitForCount(2))
    #expect(log.all == ["barrier on \(ends.input)", "after"])
    for channel in channels { channel.io.close() }
    #expect(channels.allSatisfy { $0.end() })
    ends.closeBoth()
  }

  @Test func `calls its handler at a strict interval, with any number of bytes`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.input)
    channel.io.setLimit(lowWater: 1000)
    channel.io.setInterval(interval: .milliseconds(1), flags: .strictInterval)
    let result = channel.io.read(2000, on: queue)
    writeBytes(ends.output, 5)
    #expect(eventually { result.all.count == 5 })
    let before = result.pieces.count
    #expect(result.waitForPieces(before + 3))
    #expect(channel.end(.stop))
    #expect(result.wait())
    #expect(result.all.count == 5)
    ends.closeBoth()
  }

  @Test func `waits for its handlers when they are slow`() {
    let ends = DescriptorPair.sockets()
    let reader = TestChannel(ends.input)
    reader.io.setLimit(lowWater: 1)
    queue.suspend()
    let result = reader.io.read(on: queue)
    var sent = 0
    // The channel reads more than the sockets hold, but stops while no handler can run.
    #expect(
      eventually {
        while case let count = writeBytes(ends.output, 65536), count > 0 { sent += count }
        settle()
        return sent > 1 << 20 && ReadinessNow.isFull(ends.output)
      })
    #expect(sent < 64 << 20)
    queue.resume()
    close(ends.output)
    #expect(result.wait())
    #expect(result.all.count == sent)
    #expect(reader.end())
    close(ends.input)
  }
}

/// 1 if bytes can be read, otherwise 0.
private func fillLevel(_ descriptor: Int32) -> Int {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&entry, 1, 0) == 1 ? 1 : 0
}
