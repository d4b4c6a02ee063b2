// Channels read and written by tasks.
// Shows contract row X4.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A channel that tasks read", .timeLimit(.minutes(30))) struct ChannelReadTests {
  @Test func `returns available bytes, and no bytes at the end`() async throws {
    let pipe = DescriptorPair.pipe()
    writeBytes(pipe.output, 5)
    try await withChannel(fileDescriptor: pipe.input) { channel throws(DispatchIOError) in
      #expect(try await channel.read().count == 5)
      writeBytes(pipe.output, 10)
      #expect(try await channel.read(upTo: 4).count == 4)
      close(pipe.output)
      #expect(try await channel.read().count == 6)
      #expect(try await channel.read().isEmpty)
    }
    close(pipe.input)
  }

  @Test func `reads nothing before it is called`() async throws {
    let pipe = DescriptorPair.pipe()
    writeBytes(pipe.output, 100)
    try await withChannel(fileDescriptor: pipe.input) { channel in
      for try await chunk in channel.chunks(upTo: 10) {
        #expect(chunk.count == 10)
        break
      }
    }
    // The loop took its one chunk, and no byte more.
    #expect(readBytes(pipe.input) == 90)
    pipe.closeBoth()
  }

  @Test func `loses no byte to a read that was cancelled`() async throws {
    let pipe = DescriptorPair.pipe()
    try await withChannel(fileDescriptor: pipe.input) { channel throws(DispatchIOError) in
      for _ in 0..<100 {
        let reading = Task { try await channel.read() }
        await Task.yield()
        reading.cancel()
        guard case .failure(let error) = await reading.result else {
          Issue.record("read from an empty pipe")
          continue
        }
        #expect((error as? DispatchIOError)?.isCancellation == true)
      }
      writeBytes(pipe.output, 3)
      #expect(try await channel.read().count == 3)
    }
    pipe.closeBoth()
  }

  @Test func `delivers every byte once, in order, beside cancelled reads`() async throws {
    let pipe = DescriptorPair.pipe()
    let total = stressed(200_000)
    let writing = Task {
      try await withChannel(fileDescriptor: pipe.output) { channel in
        let bytes = (0..<total).map { UInt8(truncatingIfNeeded: $0 % 251) }
        try await channel.write(bytes.withUnsafeBytes { DispatchData(bytes: $0) })
      }
      close(pipe.output)
    }
    await withChannel(fileDescriptor: pipe.input) { channel in
      var index = 0
      var attempts = 0
      var isOver = false
      while !isOver {
        attempts += 1
        let reading = Task { try await channel.read(upTo: 1_000) }
        if attempts % 3 == 0 { reading.cancel() }
        guard case .success(let data) = await reading.result else { continue }
        isOver = data.isEmpty
        let isRight = zip(data, index...).allSatisfy { $0 == UInt8($1 % 251) }
        #expect(isRight)
        index += data.count
      }
      #expect(index == total)
    }
    try await writing.value
    close(pipe.input)
  }

  @Test func `throws the error of an invalid descriptor`() async {
    await withChannel(fileDescriptor: 100_000) { channel in
      _ = await #expect { try await channel.read() } throws: {
        let error = $0 as? DispatchIOError
        return error?.code == EBADF && error?.description == "Bad file descriptor"
      }
    }
  }

  @Test func `reads a file in chunks, at its offsets too`() async throws {
    let folder = ScratchFolder()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try await withChannel(path: folder["f"], flags: O_CREAT | O_RDWR, type: .random) { channel in
      try await channel.write(bytes.withUnsafeBytes { DispatchData(bytes: $0) })
      try await channel.write(
        ([9, 9] as [UInt8]).withUnsafeBytes { DispatchData(bytes: $0) }, at: 10)
      var read: [UInt8] = []
      for try await chunk in channel.chunks(upTo: 30_000) { read += Array(chunk) }
      var expected = bytes
      expected.replaceSubrange(10..<12, with: [9, 9])
      let isSame = read == expected
      #expect(isSame)
      #expect(try await Array(channel.read(upTo: 2, at: 10)) == [9, 9])
    }
  }

  @Test func `holds the producer back while its reader is slow`() async throws {
    // A process of its own: its memory is measured.
    _ = await #expect(processExitsWith: .success) {
      let pipe = DescriptorPair.pipe()
      let total = 256 << 20
      let written = Counter()
      let writer = TestThread {
        let flags = fcntl(pipe.output, F_GETFL)
        _ = fcntl(pipe.output, F_SETFL, flags & ~O_NONBLOCK)
        let block = [UInt8](repeating: 1, count: 65_536)
        while written.value < total { written.add(write(pipe.output, block, block.count)) }
        close(pipe.output)
      }
      let before = faults_heap_bytes()
      let (read, mostAhead, mostBytes) = await withChannel(fileDescriptor: pipe.input) { channel in
        var (read, mostAhead, mostBytes) = (0, 0, 0)
        do {
          for try await chunk in channel.chunks() {
            read += chunk.count
            // A slow reader: it rests after each mebibyte.
            if read >> 20 > (read - chunk.count) >> 20 {
              try? await Task.sleep(for: .milliseconds(1), clock: .dispatchUptime)
            }
            mostAhead = max(mostAhead, written.value - read)
            mostBytes = max(mostBytes, Int(faults_heap_bytes()) - Int(before))
          }
        } catch { print("\(error)") }
        return (read, mostAhead, mostBytes)
      }
      // The kernel's buffer holds 64 KiB; another block may be on its way into it.
      let isBounded = mostAhead <= 4 * 65_536 && mostBytes < 2 << 20
      if !isBounded { print("ahead: \(mostAhead), bytes: \(mostBytes)") }
      exit(isBounded && read == total && writer.join() ? 0 : 1)
    }
  }
}

@Suite("A channel that tasks write", .timeLimit(.minutes(30))) struct ChannelWriteTests {
  @Test func `throws the unwritten bytes when the reader has left`() async throws {
    let pipe = DescriptorPair.sockets()
    close(pipe.input)
    await withChannel(fileDescriptor: pipe.output) { channel in
      _ = await #expect {
        try await channel.write(([1, 2, 3] as [UInt8]).withUnsafeBytes { DispatchData(bytes: $0) })
      } throws: {
        let error = $0 as? DispatchIOError
        return error?.code == EPIPE && error.map { Array($0.unwritten) } == [1, 2, 3]
      }
    }
    close(pipe.output)
  }

  @Test func `stops a write when its task is cancelled`() async throws {
    let pipe = DescriptorPair.pipe()
    let data = DispatchData(bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(data.isEmpty)
    let block = [UInt8](repeating: 1, count: 1 << 20)
    await withChannel(fileDescriptor: pipe.output) { channel in
      let writing = Task {
        try await channel.write(block.withUnsafeBytes { DispatchData(bytes: $0) })
      }
      #expect(await value { eventually { ReadinessNow.isFull(pipe.output) } })
      writing.cancel()
      guard case .failure(let error as DispatchIOError) = await writing.result else {
        Issue.record("a full pipe took a mebibyte")
        return
      }
      #expect(error.isCancellation)
      #expect(error.unwritten.count < block.count && !error.unwritten.isEmpty)
    }
    pipe.closeBoth()
  }
}

@Suite("Lines", .timeLimit(.minutes(30))) struct LineTests {
  private func lines(_ text: [UInt8], maxBytes: Int = 1_000) async throws -> [String] {
    let pipe = DescriptorPair.pipe()
    #expect(write(pipe.output, text, text.count) == text.count)
    close(pipe.output)
    defer { close(pipe.input) }
    return try await withChannel(fileDescriptor: pipe.input) { channel in
      var lines: [String] = []
      for try await line in channel.lines(maxBytes: maxBytes) { lines.append(line) }
      return lines
    }
  }

  @Test(
    arguments: [
      ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb\r\n", ["a", "b"]),
      ("a\n\nb", ["a", "", "b"]), ("a\rb\n", ["a\rb"]), ("\r\n", [""]), ("a\r", ["a\r"]),
      ("zürich\nköln", ["zürich", "köln"]),
    ] as [(String, [String])])
  func `end with a line feed, or with the stream`(_ text: String, _ expected: [String]) async throws
  {
    #expect(try await lines(Array(text.utf8)) == expected)
  }

  @Test func `repair what is not UTF-8`() async throws {
    #expect(try await lines([0x61, 0xFF, 0x0A]) == ["a\u{FFFD}"])
  }

  @Test func `that are too long are an error`() async throws {
    #expect(try await lines(Array("12345\n1".utf8), maxBytes: 5) == ["12345", "1"])
    await #expect { try await lines(Array("123456\n".utf8), maxBytes: 5) } throws: {
      ($0 as? DispatchIOError)?.code == EMSGSIZE
    }
    await #expect { try await lines(Array("123456".utf8), maxBytes: 5) } throws: {
      ($0 as? DispatchIOError)?.code == EMSGSIZE
    }
  }

  @Test func `arrive in pieces, cut anywhere`() async throws {
    let pipe = DescriptorPair.pipe()
    let text = Array("first\r\nzweite: grün\n\nlast".utf8)
    try await withChannel(fileDescriptor: pipe.input) { channel in
      let reading = Task {
        var lines: [String] = []
        for try await line in channel.lines() { lines.append(line) }
        return lines
      }
      try await withChannel(fileDescriptor: pipe.output) { output in
        for byte in text {
          try await output.write([byte].withUnsafeBytes { DispatchData(bytes: $0) })
          await Task.yield()
        }
      }
      close(pipe.output)
      #expect(try await reading.value == ["first", "zweite: grün", "", "last"])
    }
    close(pipe.input)
  }
}

@Suite("The regions of data as spans") struct SpanTests {
  @Test func `are its bytes, in order, until an error ends the walk`() throws {
    struct Stop: Error {}
    var data = DispatchData.empty
    // Two values keep their regions when they are joined.
    for value in [1, 2] as [UInt8] {
      let bytes = [UInt8](repeating: value, count: 100_000)
      data.append(bytes.withUnsafeBytes { DispatchData(bytes: $0) })
    }
    var counts: [Int] = []
    data.forEachRegion { span in counts.append(span.byteCount) }
    #expect(counts == [100_000, 100_000])
    var calls = 0
    #expect(throws: Stop.self) {
      try data.forEachRegion { _ throws(Stop) in
        calls += 1
        throw Stop()
      }
    }
    #expect(calls == 1)
    let copied = ([7, 8, 9] as [UInt8]).withUnsafeBytes { DispatchData(copying: $0.bytes) }
    #expect(Array(copied) == [7, 8, 9])
    DispatchData.empty.forEachRegion { _ in Issue.record("an empty region") }
  }
}
