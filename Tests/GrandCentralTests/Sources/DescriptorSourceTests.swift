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
}

/// Cancels, and waits for the cancel handler.
private func cancelAndWait(_ source: any DispatchSourceProtocol) {
  let done = Latch()
  source.setCancelHandler { done.open() }
  source.cancel()
  #expect(done.wait())
}
