// Write sources, and sources whose descriptor is closed early: contract rows S1, S5, S7.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A write source") struct WriteSourceTests {
  private let queue = DispatchQueue(label: "writes")

  @Test(arguments: [true, false])
  func `runs while there is room, and again when there is new room`(isPipe: Bool) {
    let ends = isPipe ? DescriptorPair.pipe() : DescriptorPair.sockets()
    let source = DispatchSource.makeWriteSource(fileDescriptor: ends.output, queue: queue)
    let written = Counter()
    let rooms = Log<UInt>()
    source.setEventHandler {
      rooms.append(source.data)
      written.add(max(0, writeBytes(ends.output, 4096)))
    }
    source.activate()
    // The pipe is full: the handler no longer runs.
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
  func `reports once that the last reader is gone`(isPipe: Bool) {
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
  @Test func `reports nothing about the next file with its descriptor's number`() {
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

  @Test func `reports a pipe with the number of a file that was closed too early`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      wantAllReports()
      let queue = DispatchQueue(label: "early")
      let number = open("/dev/zero", O_RDONLY)
      let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
      let ready = Latch()
      source.setEventHandler {
        source.suspend()
        ready.open()
      }
      source.activate()
      if !ready.wait() { exit(1) }
      let ends = DescriptorPair.pipe()
      dup2(ends.input, number)
      let second = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
      let log = Log<Int>()
      second.setEventHandler { log.append(readBytes(number)) }
      second.activate()
      settle()
      if log.count != 0 { exit(2) }
      writeBytes(ends.output, 3)
      if !log.waitForCount(1) || log.all != [3] { exit(3) }
      source.cancel()
      source.resume()
      second.cancel()
      exit(0)
    }
    let report = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(report.contains("was closed before the source was cancelled"))
  }

  @Test func `for a negative descriptor stops the process with a message`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeReadSource(fileDescriptor: -1)
    }
    expectReport(result, names: ["-1"], says: ["open()"])
  }

  @Test(arguments: ["never open", "closed", "closed and reused"], [true, false])
  func `whose descriptor is closed too early harms nothing, which is reported on request`(
    how: String, isRequested: Bool
  ) async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardErrorContent, \.standardOutputContent]
    ) { [how, isRequested] in
      if isRequested { wantAllReports() }
      let queue = DispatchQueue(label: "early")
      let ends = DescriptorPair.pipe()
      // A high number, which no file that the engine opens briefly can get meanwhile.
      let number = fcntl(ends.input, F_DUPFD_CLOEXEC, 700)
      let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
      let wrong = Counter()
      let cancelled = Latch()
      source.setEventHandler { wrong.add() }
      source.setCancelHandler { cancelled.open() }
      if how == "never open" { close(number) }
      source.activate()
      queue.sync {}
      if how != "never open" { close(number) }
      if how == "closed and reused" {
        let new = DescriptorPair.pipe()
        dup2(new.input, number)
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
    guard isRequested else {
      #expect(!report.contains("GRAND CENTRAL"))
      return
    }
    #expect(report.contains("BUG IN CLIENT OF GRAND CENTRAL"))
    #expect(report.contains("read source of descriptor") && report.contains("queue 'early'"))
    #expect(report.contains("cancel handler"))
  }
}

extension DispatchSourceProtocol {
  fileprivate var handleOfDescriptor: Int32 { Int32(truncatingIfNeeded: handle) }
}
