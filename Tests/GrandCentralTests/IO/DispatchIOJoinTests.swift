// Several small writes in line, which one system call makes: contract rows I2, I4, I5.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("Small writes in line") struct DispatchIOJoinTests {
  let queue = DispatchQueue(label: "writes")
  let folder = ScratchFolder()

  /// Submits writes while a barrier holds them back, so that all are in line when the first starts.
  private func writes(_ pieces: [[UInt8]], to channel: TestChannel) -> [IOResult] {
    let release = Latch()
    channel.io.barrier { _ = release.wait() }
    let results = pieces.map { channel.io.write($0, on: queue) }
    release.open()
    return results
  }

  private func line(_ number: Int, count: Int = 80) -> [UInt8] {
    var line = Array("line \(number) ".utf8)
    line += [UInt8](repeating: UInt8(ascii: "."), count: count - line.count - 1)
    return line + [UInt8(ascii: "\n")]
  }

  /// Reads until `count` bytes have come, or the end.
  private func readAll(_ descriptor: Int32, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < count {
      var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&look, 1, Int32(deadlineSeconds * 1000)) == 1 else { break }
      let read = read(descriptor, &buffer, buffer.count)
      guard read > 0 else { break }
      bytes += buffer.prefix(read)
    }
    return bytes
  }

  @Test func `arrive together on a pipe`() {
    let ends = DescriptorPair.pipe().madeBlocking
    let channel = TestChannel(ends.output)
    let lines = (0..<50).map { line($0) }
    let results = writes(lines, to: channel)
    // The reader begins to wait before, or a little after, the call; either way it gets all of it.
    var buffer = [UInt8](repeating: 0, count: 65536)
    let first = read(ends.input, &buffer, buffer.count)
    #expect(Array(buffer.prefix(max(0, first))) == Array(lines.joined()))
    for result in results { #expect(result.wait() && result.error == 0 && result.last == nil) }
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test(arguments: ["pipe", "sockets", "file"])
  func `arrive whole and in order, beside long ones and empty ones`(kind: String) {
    let file = folder.file("a")
    let ends =
      switch kind {
      case "pipe": DescriptorPair.pipe()
      case "sockets": DescriptorPair.sockets()
      default: DescriptorPair(input: file, output: file)
      }
    var random = SeededGenerator(for: "DispatchIOJoin")
    let channel = TestChannel(ends.output)
    let pieces = (0..<2_000).map { number -> [UInt8] in
      let count = number % 97 == 96 ? 9_000 : Int.random(in: 0...300, using: &random)
      return (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ number) }
    }
    let results = writes(pieces, to: channel)
    let all = Array(pieces.joined())
    if kind != "file" { #expect(readAll(ends.input, all.count) == all) }
    for result in results { #expect(result.wait() && result.error == 0 && result.last == nil) }
    if kind == "file" { #expect(content(file, all.count) == all) }
    #expect(channel.end())
    if kind != "file" { ends.closeBoth() }
    close(file)
  }

  @Test(arguments: ["datagrams", "packets", "packets later"])
  func `stay apart where the reader sees their ends`(kind: String) {
    let ends = kind == "datagrams" ? DescriptorPair.sockets(datagrams: true) : .pipe()
    let channel = TestChannel(ends.output)
    if kind == "packets later" {
      for result in writes([line(0), line(1)], to: channel) { #expect(result.wait()) }
      #expect(readBytes(ends.input) == 160)
    }
    if kind != "datagrams" {
      // open(2): O_DIRECT of a pipe, its packet mode.
      let flags = fcntl(ends.output, F_GETFL)
      #expect(fcntl(ends.output, F_SETFL, flags | 0o40000) == 0)
    }
    let results = writes((1...8).map { line($0, count: 80 + $0) }, to: channel)
    for result in results { #expect(result.wait() && result.error == 0) }
    #expect((1...8).map { _ in readBytes(ends.input) } == (1...8).map { 80 + $0 })
    #expect(channel.end())
    ends.closeBoth()
  }

  @Test(arguments: ["pipe", "sockets"])
  func `are not torn by another writer`(kind: String) {
    let ends = kind == "pipe" ? DescriptorPair.pipe() : .sockets()
    // A local socket cuts what is longer than half of its buffer.
    var bytes: Int32 = 2_048
    setsockopt(ends.output, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    let other = dup(ends.output)
    #expect(other >= 0)
    let channels = [TestChannel(ends.output), TestChannel(other)]
    let count = 3_000
    let results = channels.flatMap { writes((0..<count).map { line($0) }, to: $0) }
    let read = readAll(ends.input, 2 * count * 80)
    let lines = read.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    #expect(lines.count == 2 * count + 1 && lines.dropLast().allSatisfy { $0.count == 79 })
    for result in results { #expect(result.wait() && result.error == 0) }
    for channel in channels { #expect(channel.end()) }
    close(other)
    ends.closeBoth()
  }

  @Test func `of which one fits are not held up by the others`() {
    let ends = DescriptorPair.pipe()
    while writeBytes(ends.output, 4_096) > 0 {}
    // Makes a page free, and takes most of it.
    #expect(readBytes(ends.input, atMost: 4_096) == 4_096)
    #expect(writeBytes(ends.output, 4_000) == 4_000)
    let channel = TestChannel(ends.output)
    let results = writes((0..<20).map { line($0) }, to: channel)
    #expect(results[0].wait() && results[0].error == 0)
    #expect(!results[1].isDone)
    #expect(channel.end(.stop))
    for result in results { #expect(result.wait()) }
    ends.closeBoth()
  }

  @Test func `end with the bytes that did not fit, each with its own`() async {
    // In a process of its own, whose files are limited.
    _ = await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let folder = ScratchFolder()
      var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let channel = TestChannel(folder.file("a"))
      let queue = DispatchQueue(label: "writes")
      let release = Latch()
      channel.io.barrier { _ = release.wait() }
      let results = (0..<4).map { _ in
        channel.io.write([UInt8](repeating: 7, count: 400), on: queue)
      }
      release.open()
      for result in results { precondition(result.wait()) }
      precondition(results.map(\.error) == [0, 0, EFBIG, EFBIG])
      precondition(results.map { $0.last?.count } == [nil, nil, 200, 400])
      precondition(channel.end())
    }
  }

  @Test func `each end with the error of a closed pipe`() {
    let ends = DescriptorPair.pipe()
    let channel = TestChannel(ends.output)
    close(ends.input)
    for result in writes((0..<20).map { line($0) }, to: channel) {
      #expect(result.wait() && result.error == EPIPE && result.last?.count == 80)
    }
    #expect(channel.end())
    close(ends.output)
  }

  @Test func `that are stopped while the first one waits end with all of their bytes`() {
    let ends = DescriptorPair.pipe()
    while writeBytes(ends.output, 65536) > 0 {}
    let channel = TestChannel(ends.output)
    let results = writes((0..<20).map { line($0) }, to: channel)
    #expect(channel.end(.stop))
    for result in results {
      #expect(result.wait() && result.error == ECANCELED && result.last?.count == 80)
    }
    ends.closeBoth()
  }
}
