import Glibc
import GrandCentral
import TestSupport
import Testing

// In this process the channels' suites run with the backend that the engine or the environment
// chooses. Here they run with each backend, in processes of their own.
@Suite("Channels with each backend", .serialized) struct BackendTests {
  @Test(arguments: ["uring", "workers"])
  func `pass all their tests`(backend: String) {
    let child = runChild(
      [
        ownProgram, "--testing-library", "swift-testing", "--filter",
        #"GrandCentralTests\.DispatchIO\w+Tests"#,
      ],
      // The child runs fewer repetitions than this process.
      environment: ["GRANDCENTRAL_IO": backend, "GRANDCENTRAL_STRESS": "0.2"],
      seconds: 4 * deadlineSeconds)
    let said = child.output + child.errors
    let issues = said.split(separator: "\n").filter { $0.contains("✘") }.joined(separator: "\n")
    #expect(child.status == 0, "\(backend): \(child.signal ?? 0): \(issues)\n\(said.suffix(2000))")
    // Checks that the filter matched tests.
    let counts = said.split(separator: "Test run with ").dropFirst().compactMap {
      Int($0.prefix { $0.isNumber })
    }
    #expect((counts.last ?? 0) >= 50, "\(said.suffix(1000))")
  }
}

@Suite("The backend of files") struct DispatchIOBackendTests {
  @Test func `is what the environment asks for, where the kernel allows it`() {
    let backend = DispatchIO.fileBackend
    let wanted = getenv("GRANDCENTRAL_IO").map { String(cString: $0) }
    let isRefused = backend.reason.hasPrefix("io_uring was refused (errno ")
    switch wanted {
    case "workers": #expect(backend.kind == .workers && !isRefused)
    default: #expect(backend.kind == .uring || isRefused)
    }
    #expect(backend.description == "\(backend.kind.rawValue): \(backend.reason)")
    #expect(DispatchIO.fileBackend == backend)
  }

  @Test(arguments: [1, 511, 4096, 65536, 65537, 200_000])
  func `reads what is not in memory`(length: Int) {
    let folder = ScratchFolder()
    let file = folder.file("a")
    let bytes = pattern(1_000_000)
    fill(file, bytes)
    fsync(file)
    // If the file system has a disk, the kernel must read the pages again.
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    let channel = TestChannel(file, .random)
    let queue = DispatchQueue(label: "not in memory")
    let places = (0..<50).map { ($0 * 7_919_317) % 1_000_000 }
    let reads = places.map { channel.io.read(length, at: off_t($0), on: queue) }
    for (place, result) in zip(places, reads) {
      #expect(result.wait())
      #expect(result.error == 0 && result.all == Array(bytes[place...].prefix(length)))
    }
    #expect(channel.end())
    close(file)
  }

  @Test func `reads and writes many small pieces of many files at a time`() {
    let folder = ScratchFolder()
    let files = (0..<20).map { folder.file("\($0)") }
    let channels = files.map { TestChannel($0, .random) }
    let writes = (0..<100).flatMap { place in
      channels.map { $0.io.write(pattern(100, from: place), at: off_t(place * 100), on: .global()) }
    }
    #expect(writes.allSatisfy { $0.wait() && $0.error == 0 && $0.last == nil })
    let reads = (0..<100).flatMap { place in
      channels.map { $0.io.read(100, at: off_t(place * 100), on: .global()) }
    }
    for (index, result) in reads.enumerated() {
      #expect(result.wait())
      #expect(result.all == pattern(100, from: index / channels.count))
    }
    #expect(channels.allSatisfy { $0.end() })
    for file in files {
      #expect(content(file, 20_000) == (0..<100).flatMap { pattern(100, from: $0) })
      close(file)
    }
  }

  @Test func `keeps every byte when it is stopped at random`() {
    var random = SeededGenerator(for: "stops of a file")
    let folder = ScratchFolder()
    for round in 0..<stressed(40) {
      let file = folder.file("\(round)")
      let channel = TestChannel(file, .random)
      let sizes = (0..<60).map { _ in Int.random(in: 1...9000, using: &random) }
      let writes = sizes.enumerated().map {
        channel.io.write(pattern($1, from: $0), at: off_t($0 * 9000), on: .global())
      }
      let reads = sizes.indices.map { channel.io.read(500, at: off_t($0), on: .global()) }
      for _ in 0..<Int.random(in: 0...3000, using: &random) { sched_yield() }
      #expect(channel.end(.stop))
      #expect((writes + reads).allSatisfy { $0.wait() })
      let all = content(file, 60 * 9000)
      for (index, (size, result)) in zip(sizes, writes).enumerated() {
        let bytes = pattern(size, from: index)
        let left = Array(result.last ?? .empty)
        #expect(result.error == (left.isEmpty ? 0 : ECANCELED) || result.error == ECANCELED)
        #expect(left == Array(bytes.suffix(left.count)))
        // The bytes that the operation did not return are in the file.
        let went = size - left.count
        #expect(Array(all.dropFirst(index * 9000).prefix(went)) == Array(bytes.prefix(went)))
      }
      #expect(reads.allSatisfy { $0.error == 0 || $0.error == ECANCELED })
      close(file)
    }
  }
}
