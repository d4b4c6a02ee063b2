// The programs of the chapters, where the tour itself does not show what they can do.

import Glibc
import GrandCentral
import Testing

@testable import tour

@Suite("A checksum") struct ChecksumTests {
  @Test func `is that of the cksum command`() throws {
    let folder = try MadeFolder()
    // POSIX.1 lists no values; 930766865 is what cksum prints for these nine digits.
    let digits = try Checksum(ofFile: folder.file("digits", Array("123456789".utf8)))
    #expect((digits.value, digits.bytes) == (930_766_865, 9))
    try folder.fill()
    let output = folder.path + "/output"
    let sums = checksumsByLoop(below: folder.path + "/folder 3").checksums
    #expect(sums.count == 10)
    for (path, sum) in sums {
      #expect(try Program.run("cksum", path, output: output) == .exited(0))
      #expect(try text(of: output) == "\(sum.value) \(sum.bytes) \(path)\n")
    }
  }
}

@Suite("The job", .timeLimit(.minutes(30))) struct JobTests {
  @Test func `finds every file once, as the plain loop does`() throws {
    let folder = try MadeFolder()
    try folder.fill()
    let (found, expected) = (ChecksumJob().run(folder.path), checksumsByLoop(below: folder.path))
    #expect(found.checksums == expected.checksums)
    #expect(found.checksums.count == MadeFolder.filledFiles)
    #expect(found.failures == [:] && expected.failures == [:])
    #expect(expected.threads.count == 1)
  }

  @Test func `leaves out links and hidden files`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("file", [1])
    try folder.file(".hidden", [1])
    symlink("file", "\(folder.path)/link")
    #expect(Array(ChecksumJob().run(folder.path).checksums.keys) == [file])
  }

  @Test func `says what cannot be read and continues`() throws {
    let folder = try MadeFolder()
    let file = try folder.file("file", [1])
    let missing = folder.path + "/missing"
    let failure = Failure(
      "cannot list the folder '\(missing)': No such file or directory. "
        + "Check that it is there and that you may read it.")
    #expect(ChecksumJob().run(missing).failures == [missing: failure])
    #expect(checksumsByLoop(below: missing).failures == [missing: failure])
    #expect(ChecksumJob().run(file).checksums.keys.contains(file))
  }
}

@Suite("The echo server", .timeLimit(.minutes(30))) struct EchoTests {
  @Test func `sends back a message that is longer than its socket holds`() throws {
    let server = try EchoServer()
    let client = try LoopbackSocket.connected(to: server.port)
    let message = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 167) }
    let queue = DispatchQueue(label: "test.client")
    let isClosed = DispatchSemaphore(value: 0)
    let channel = DispatchIO(type: .stream, fileDescriptor: client, queue: queue) { _ in
      close(client)
      isClosed.signal()
    }
    let answer = Guarded(DispatchData.empty, label: "test.answer")
    channel.write(offset: 0, data: DispatchData(message), queue: queue) { _, _, _ in }
    channel.read(offset: 0, length: message.count, queue: queue) { isDone, data, _ in
      if let data { answer.async { $0.append(data) } }
      if isDone { channel.close() }
    }
    isClosed.wait()
    server.stop()
    #expect(answer.sync { Array($0) } == message)
  }

  @Test func `counts an answer that is not the message`() throws {
    // A server that reads the messages and answers something else.
    let (listening, port) = try LoopbackSocket.listening()
    defer { close(listening) }
    let answers = Guarded<[Bool]>([], label: "test.answers")
    let group = DispatchGroup()
    let client = try EchoClient(1, port: port, messages: 1, group: group) { isRight in
      answers.async { $0.append(isRight) }
    }
    let server = accept(listening, nil, nil)
    client.start()
    let wrong = [UInt8](repeating: 0, count: 100)
    #expect(send(server, wrong, wrong.count, Int32(MSG_NOSIGNAL)) == wrong.count)
    group.wait()
    close(server)
    #expect(answers.sync { $0 } == [false])
  }
}

@Suite("A supervisor", .timeLimit(.minutes(30))) struct SupervisorTests {
  @Test func `gives up after the last attempt`() {
    let lines = Guarded<[String]>([], label: "test.lines")
    let endings = Supervisor(maxAttempts: 3, log: { line in lines.sync { $0.append(line) } }) { _ in
      ["sh", "-c", "exit 7"]
    }.run()
    #expect(endings == [.exited(7), .exited(7), .exited(7)])
    #expect(lines.sync { $0.last } == "attempt 3 has ended: exit code 7")
  }

  @Test func `stops when the program cannot be started`() {
    let lines = Guarded<[String]>([], label: "test.lines")
    let endings = Supervisor(maxAttempts: 3, log: { line in lines.sync { $0.append(line) } }) { _ in
      ["/nowhere/program"]
    }.run()
    #expect(endings == [])
    #expect(lines.sync { $0.first?.hasPrefix("cannot start '/nowhere/program': ") } == true)
  }
}

@Suite("A pipeline", .timeLimit(.minutes(30))) struct PipelineTests {
  @Test func `changes small letters, and nothing else`() {
    let bytes = (0...255).map { UInt8($0) }
    let expected = bytes.map { 97...122 ~= $0 ? $0 - 32 : $0 }
    #expect(Array(Pipeline.withCapitals(DispatchData(bytes))) == expected)
  }

  @Test(arguments: [
    0, 1, Pipeline.pieceBytes, Pipeline.pieceBytes + 1,
    (Pipeline.maxPieces * 2 + 1) * Pipeline.pieceBytes - 1,
  ])
  func `puts every byte in its place`(count: Int) throws {
    let folder = try MadeFolder()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: ($0 >> 8) &* 31 &+ $0) }
    let source = try folder.file("source", bytes)
    let target = folder.path + "/target"
    try Pipeline(from: source, to: target, bytes: count).run()
    var result: [UInt8] = []
    try readFile(target) { result += $0 }
    #expect(result == bytes.map { 97...122 ~= $0 ? $0 - 32 : $0 })
  }

  @Test func `says why a file cannot be opened or written`() throws {
    let folder = try MadeFolder()
    let source = try folder.file("source", [1, 2, 3])
    let missing = folder.path + "/missing"
    #expect(throws: Failure.self) { try Pipeline(from: missing, to: source, bytes: 3) }
    let full = try Pipeline(from: source, to: "/dev/full", bytes: 3)
    let failure = #expect(throws: Failure.self) { try full.run() }
    #expect(failure?.description.contains("No space left on device. Check the free space") == true)
  }
}

@Suite("A guarded value") struct GuardedTests {
  @Test func `loses no change of any thread`() {
    let sum = Guarded(0, label: "test.sum")
    DispatchQueue.concurrentPerform(iterations: 1000) { number in
      if number.isMultiple(of: 2) { sum.sync { $0 += number } } else { sum.async { $0 += number } }
    }
    #expect(sum.sync { $0 } == 499_500)
  }
}

@Suite("Words") struct WordsTests {
  @Test func `for numbers are short`() {
    #expect(Duration.microseconds(45).words == "45 µs")
    #expect(Duration.microseconds(12_345).words == "12.3 ms")
    #expect(1_234_567.megabytes == "1.2 MB")
    #expect(123_000_000.rate(per: .milliseconds(500)) == "246.0 MB/s")
    #expect("a".padded(to: 3) == "a  " && "abc".padded(to: 2, isRight: true) == "abc")
  }
}
