// Read and write sources: contract rows S1, S3, S5, S7.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A read source") struct ReadSourceTests {
  private let queue = DispatchQueue(label: "reads")

  @Test func `runs when something can be read, and says how much`() {
    let ends = DescriptorPair.pipe()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(ends.input)
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

  @Test func `runs again while something is left`() {
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
  func `tells once that the other side has hung up`(isPipe: Bool) {
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

  @Test func `is told by each source of one descriptor, read and write beside each other`() {
    let ends = DescriptorPair.sockets()
    let reads = Latch(3)
    let writes = Latch()
    let readers = (0..<3).map { _ in
      DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    }
    for reader in readers {
      reader.setEventHandler {
        reads.open()
        reader.suspend()
      }
      reader.activate()
    }
    let writer = DispatchSource.makeWriteSource(fileDescriptor: ends.input, queue: queue)
    writer.setEventHandler {
      writes.open()
      writer.suspend()
    }
    writer.activate()
    writeBytes(ends.output, 1)
    #expect(reads.wait())
    #expect(writes.wait())
    for reader in readers {
      reader.resume()
      cancelAndWait(reader)
    }
    writer.resume()
    cancelAndWait(writer)
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
  func `finds a device that is always ready so, again and again`(path: String) {
    let descriptor = open(path, O_RDONLY)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let runs = Latch(3)
    source.setEventHandler { runs.open() }
    source.activate()
    #expect(runs.wait())
    cancelAndWait(source)
    close(descriptor)
  }

  @Test func `is told of a directory once, which cannot be read`() {
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
      // One at a time: what is left is told again.
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
    source.setEventHandler { log.append(readBytes(ends.input)) }
    source.activate()
    send(ends.output, nil, 0, 0)
    #expect(log.waitForCount(1))
    send(ends.output, [1, 2, 3], 3, 0)
    #expect(log.waitForCount(2))
    settle()
    #expect(log.all == [0, 3])
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test func `hears of a refused datagram, and of those that come later`() {
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

  @Test func `hears a FIFO's next writer after the last one has gone`() throws {
    let path = "/tmp/grandcentral-fifo-\(getpid())-\(threadID())"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let input = open(path, O_RDONLY | O_NONBLOCK)
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(input)
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

  @Test func `that is suspended is told once on resume, of all that came`() {
    let ends = DescriptorPair.pipe()
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler {
      log.append(source.data)
      readBytes(ends.input)
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

  @Test func `lets other items of its queue have their turn`() {
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

@Suite("A write source") struct WriteSourceTests {
  private let queue = DispatchQueue(label: "writes")

  @Test(arguments: [true, false])
  func `runs while there is room, and again when room is made`(isPipe: Bool) {
    let ends = isPipe ? DescriptorPair.pipe() : DescriptorPair.sockets()
    let source = DispatchSource.makeWriteSource(fileDescriptor: ends.output, queue: queue)
    let written = Counter()
    let rooms = Log<UInt>()
    source.setEventHandler {
      rooms.append(source.data)
      written.add(max(0, writeBytes(ends.output, 4096)))
    }
    source.activate()
    // Full: the handler no longer runs.
    #expect(eventually { written.value > 0 && ReadinessNow.isFull(ends.output) })
    settle()
    let full = written.value
    let runs = rooms.count
    settle()
    #expect(rooms.count == runs)
    #expect(rooms.all.allSatisfy { $0 > 0 })
    var emptied = 0
    while emptied < full { emptied += max(0, readBytes(ends.input)) }
    #expect(eventually { written.value > full })
    cancelAndWait(source)
    ends.closeBoth()
  }

  @Test(arguments: [true, false])
  func `tells once that nobody reads any more`(isPipe: Bool) {
    let ends = isPipe ? DescriptorPair.pipe() : DescriptorPair.sockets()
    while !ReadinessNow.isFull(ends.output) { writeBytes(ends.output, 4096) }
    let source = DispatchSource.makeWriteSource(fileDescriptor: ends.output, queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.activate()
    settle()
    #expect(log.count == 0)
    close(ends.input)
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == [0])
    cancelAndWait(source)
    close(ends.output)
  }

  @Test func `finds a regular file always ready`() throws {
    let file = try #require(tmpfile())
    let source = DispatchSource.makeWriteSource(fileDescriptor: fileno(file), queue: queue)
    let written = Latch(3)
    source.setEventHandler {
      writeBytes(source.handleOfDescriptor, 100)
      written.open()
    }
    source.activate()
    #expect(written.wait())
    cancelAndWait(source)
    fclose(file)
  }
}

@Suite("A descriptor source") struct DescriptorLifeTests {
  @Test func `hears nothing of the file that has its descriptor's number next`() {
    let queue = DispatchQueue(label: "reuse")
    for _ in 0..<200 {
      let old = DescriptorPair.pipe()
      let source = DispatchSource.makeReadSource(fileDescriptor: old.input, queue: queue)
      let cancelled = Latch()
      let late = Counter()
      source.setEventHandler { late.add() }
      source.setCancelHandler {
        close(old.input)
        cancelled.open()
      }
      source.activate()
      writeBytes(old.output, 1)
      source.cancel()
      #expect(cancelled.wait())
      let before = late.value
      let new = DescriptorPair.pipe()
      writeBytes(new.output, 1)
      queue.sync {}
      #expect(late.value == before)
      new.closeBoth()
      close(old.output)
    }
  }

  @Test func `made for a negative descriptor stops the process and says so`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeReadSource(fileDescriptor: -1)
    }
    expectReport(result, names: ["-1"], says: ["open()"])
  }

  @Test(arguments: ["never open", "closed", "closed and reused"])
  func `whose descriptor is closed too early is reported`(how: String) async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardErrorContent, \.standardOutputContent]
    ) { [how] in
      let queue = DispatchQueue(label: "early")
      // The engine's own descriptors come first, so that none of them takes the number that is closed.
      let first = Latch()
      queue.asyncAfter(deadline: .now() + .milliseconds(1)) { first.open() }
      if !first.wait() { exit(1) }
      let ends = DescriptorPair.pipe()
      let source = DispatchSource.makeReadSource(fileDescriptor: ends.input, queue: queue)
      let wrong = Counter()
      let cancelled = Latch()
      source.setEventHandler { wrong.add() }
      source.setCancelHandler { cancelled.open() }
      if how == "never open" { close(ends.input) }
      source.activate()
      queue.sync {}
      if how != "never open" { close(ends.input) }
      if how == "closed and reused" {
        let new = DescriptorPair.pipe()
        let number = new.input == ends.input ? new.input : dup2(new.input, ends.input)
        let right = Latch()
        let second = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        second.setEventHandler {
          readBytes(number)
          right.open()
        }
        second.activate()
        writeBytes(new.output, 1)
        if !right.wait() { exit(2) }
        second.cancel()
      }
      source.cancel()
      if !cancelled.wait() || wrong.value != 0 { exit(3) }
      exit(0)
    }
    let report = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(report.contains("BUG IN CLIENT OF GRAND CENTRAL"))
    #expect(report.contains("read source of descriptor") && report.contains("queue 'early'"))
    #expect(report.contains("cancel handler"))
  }
}

/// Cancels, and waits for the cancel handler.
private func cancelAndWait(_ source: any DispatchSourceProtocol) {
  let done = Latch()
  source.setCancelHandler { done.open() }
  source.cancel()
  #expect(done.wait())
}

extension DispatchSourceProtocol {
  fileprivate var handleOfDescriptor: Int32 { Int32(truncatingIfNeeded: handle) }
}
