// Read sources: contract rows S1, S3, S4, S7.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A read source") struct ReadSourceTests {
  private let queue = DispatchQueue(label: "reads")

  @Test func `runs when bytes can be read, and reports how many`() {
    let ends = DescriptorPair.pipe()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      let data = source.data
      readBytes(ends.input)
      log.append(data)
    }
    source.activate()
    writeBytes(ends.output, 5)
    #expect(log.waitForCount(1))
    writeBytes(ends.output, 3)
    #expect(log.waitForCount(2))
    #expect(log.all == [5, 3])
    #expect(source.handle == UInt(ends.input))
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test func `runs again while bytes are left`() {
    let ends = DescriptorPair.sockets()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(ends.input, atMost: 1)
    }
    writeBytes(ends.output, 4)
    source.activate()
    #expect(log.waitForCount(4))
    settle()
    #expect(log.all == [4, 3, 2, 1])
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test(arguments: [true, false])
  func `reports a hang-up of the other side once`(isPipe: Bool) {
    let ends = isPipe ? DescriptorPair.pipe() : DescriptorPair.sockets()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.activate()
    close(ends.output)
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == [0])
    cancelAndWait(source)
    close(ends.input)
  }

  @Test func `delivers what was sent before the hang-up, then the hang-up`() {
    let ends = DescriptorPair.sockets()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(ends.input, atMost: Int(source.data))
    }
    writeBytes(ends.output, 10)
    close(ends.output)
    source.activate()
    #expect(log.waitForCount(2))
    settle()
    #expect(log.all == [10, 0])
    cancelAndWait(source)
    close(ends.input)
  }

  @Test func `is one of several on a descriptor, reads and writes, and each one reports`() {
    let ends = DescriptorPair.sockets()
    let reads = Latch(3)
    let writes = Latch()
    let readers = (0..<3).map { _ in
      DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    }
    for reader in readers {
      reader.setEventHandler {
        reader.suspend()
        reads.open()
      }
      reader.activate()
    }
    let writer = DispatchSource.makeWriteSource(fileDescriptor: ends.input, queue: queue)
    writer.setEventHandler {
      writer.suspend()
      writes.open()
    }
    writer.activate()
    writeBytes(ends.output, 1)
    #expect(reads.wait())
    #expect(writes.wait())
    let cancelled = Latch(4)
    for source in readers as [any DispatchSourceProtocol] + [writer] {
      source.setCancelHandler { cancelled.open() }
      // Cancel before resuming: otherwise the handler might run again and suspend the source again.
      source.cancel()
      source.resume()
    }
    #expect(cancelled.wait())
    ends.closeBoth()
  }

  @Test func `finds a regular file always ready until its end`() throws {
    let file = try #require(tmpfile())
    let descriptor = fileno(file)
    writeBytes(descriptor, 10)
    lseek(descriptor, 0, SEEK_SET)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(descriptor, atMost: 4)
    }
    source.activate()
    #expect(log.waitForCount(4))
    settle()
    #expect(log.all == [10, 6, 2, 0])
    cancelAndWait(source)
    fclose(file)
  }

  @Test(arguments: ["/dev/null", "/dev/zero"])
  func `reports a device that is always ready again and again`(path: String) {
    let descriptor = open(path, O_RDONLY)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let runs = Latch(3)
    source.setEventHandler { runs.open() }
    source.activate()
    #expect(runs.wait())
    cancelAndWait(source)
    close(descriptor)
  }

  @Test func `reports a directory once, which cannot be read`() {
    let descriptor = open("/", O_RDONLY | O_DIRECTORY)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.activate()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.count == 1)
    cancelAndWait(source)
    close(descriptor)
  }

  @Test func `watches an eventfd`() {
    let descriptor = makeEventDescriptor()
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let log = Log<UInt64>()
    source.setEventHandler {
      var value: UInt64 = 0
      if source.data > 0, read(descriptor, &value, 8) == 8 { log.append(value) }
    }
    source.activate()
    for value: UInt64 in [3, 4] {
      var copy = value
      write(descriptor, &copy, 8)
      #expect(log.waitForCount(Int(value) - 2))
    }
    settle()
    #expect(log.all == [3, 4])
    cancelAndWait(source)
    close(descriptor)
  }

  @Test func `watches a socket that listens, and accepts all that connect`() {
    let server = LoopbackServer(backlog: 64)
    let source = DispatchSource.makeReadSource(fileDescriptor: server.descriptor, queue: queue)
    let accepted = Log<Int32>()
    source.setEventHandler {
      // Accepts one connection per call: the source reports the remaining ones again.
      let client = accept(server.descriptor, nil, nil)
      if client >= 0 { accepted.append(client) }
    }
    source.activate()
    let clients = (0..<20).map { _ in server.connect() }
    #expect(accepted.waitForCount(20))
    cancelAndWait(source)
    for descriptor in clients + accepted.all { close(descriptor) }
    close(server.descriptor)
  }

  @Test func `delivers an empty datagram`() {
    let ends = DescriptorPair.sockets(datagrams: true)
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<Int>()
    let data = Log<UInt>()
    source.setEventHandler {
      // 0 would be the end.
      data.append(source.data)
      log.append(readBytes(ends.input))
    }
    source.activate()
    send(ends.output, nil, 0, 0)
    #expect(log.waitForCount(1))
    send(ends.output, [1, 2, 3], 3, 0)
    #expect(log.waitForCount(2))
    settle()
    #expect(log.all == [0, 3])
    #expect(data.all == [1, 3])
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test(arguments: [false, true])
  func `is not at its end for a handler that reads first`(isSocket: Bool) {
    let ends = isSocket ? DescriptorPair.sockets() : DescriptorPair.pipe()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      readBytes(ends.input)
      log.append(source.data)
    }
    source.activate()
    writeBytes(ends.output, 3)
    #expect(log.waitForCount(1))
    close(ends.output)
    #expect(log.waitForCount(2))
    #expect(log.all == [1, 0])
    cancelAndWait(source)
    close(ends.input)
  }

  @Test func `gets the bytes of a FIFO's writer that has gone at once`() throws {
    let path = "/tmp/grandcentral-fifo-gone-\(getpid())-\(threadID())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let input = open(path, O_RDONLY | O_NONBLOCK)
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
    let (bytes, ends) = (Counter(), Counter())
    source.setEventHandler {
      let isAtEnd = source.data == 0
      bytes.add(max(0, readBytes(input)))
      // Last: the next writer comes then, and its byte must not be read at this end.
      if isAtEnd { ends.add() }
    }
    source.activate()
    for round in 1...50 {
      let output = open(path, O_WRONLY)
      writeBytes(output, 1)
      close(output)
      #expect(bytes.waitForValue(round))
      // The source has ended before the next writer comes.
      #expect(eventually { ends.value >= round })
    }
    cancelAndWait(source)
    close(input)
  }

  @Test func `reports a refused datagram, and later ones`() {
    let ends = UDPPair()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<Int>()
    source.setEventHandler { log.append(readBytes(ends.input)) }
    source.activate()
    ends.sendIntoNothing()
    #expect(log.waitForCount(1))
    for count in 1...3 {
      ends.sendToInput(count)
      #expect(log.waitForCount(count + 1))
    }
    #expect(log.all == [-1, 1, 2, 3])
    cancelAndWait(source)
    ends.closeAll()
  }

  @Test func `reports a FIFO's next writer after the last one has closed`() throws {
    let path = "/tmp/grandcentral-fifo-\(getpid())-\(threadID())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let input = open(path, O_RDONLY | O_NONBLOCK)
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      let data = source.data
      readBytes(input)
      log.append(data)
    }
    source.activate()
    for round in 1...3 {
      let output = open(path, O_WRONLY)
      writeBytes(output, round)
      #expect(eventually { log.all.contains(UInt(round)) })
      let before = log.count
      close(output)
      #expect(log.waitForCount(before + 1))
      settle()
      #expect(log.count == before + 1)
      #expect(log.all.last == 0)
    }
    cancelAndWait(source)
    close(input)
  }

  @Test func `watches a terminal`() {
    let ends = DescriptorPair.terminal()
    let (main, terminal) = (ends.output, ends.input)
    let source = DispatchSource.makeReadSource(fileDescriptor: terminal, queue: queue)
    let log = Log<Int>()
    source.setEventHandler { log.append(readBytes(terminal)) }
    source.activate()
    write(main, "line\n", 5)
    #expect(log.waitForCount(1))
    #expect(log.all.first == 5)
    let before = log.count
    close(main)
    #expect(log.waitForCount(before + 1))
    settle()
    #expect(log.count == before + 1)
    cancelAndWait(source)
    close(terminal)
  }

  @Test func `that is suspended reports everything once on resume`() {
    let ends = DescriptorPair.pipe()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      let data = source.data
      readBytes(ends.input)
      log.append(data)
    }
    source.activate()
    source.suspend()
    for _ in 0..<10 { writeBytes(ends.output, 2) }
    settle()
    #expect(log.count == 0)
    source.resume()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == [20])
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test func `lets other items of its queue run in between`() {
    let descriptor = open("/dev/zero", O_RDONLY)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let runs = Latch(10)
    source.setEventHandler { runs.open() }
    source.activate()
    #expect(runs.wait())
    let turns = Latch(100)
    for _ in 0..<100 { queue.async { turns.open() } }
    #expect(turns.wait())
    cancelAndWait(source)
    close(descriptor)
  }
}
