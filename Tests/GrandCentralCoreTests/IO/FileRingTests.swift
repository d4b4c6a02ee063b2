import Glibc
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

// A pipe in the role of a file: its reads wait in the ring as they would for a disk that does not
// respond.
@Suite(
  "An io_uring of files", .enabled(if: DispatchIO.fileBackend.kind == .uring, "needs io_uring"))
struct FileRingTests {
  @Test func `ends a stopped operation at once, wherever it waits`() async {
    // In a process of its own, so that no other test finds the ring full.
    _ = await #expect(processExitsWith: .success) {
      let ring = try #require(FileTransfers.shared.ring)
      // More reads than slots, so that some wait for one, and more per file than are started.
      let files = (0..<FileRing.slotCount / 32 + 2).map { _ in SilentFile() }
      for file in files { file.read(40) }
      #expect(eventually { ring.busySlots == FileRing.slotCount })
      for file in files { file.stop() }
      for file in files {
        #expect(file.results.waitForCount(40) && file.ended.wait())
        #expect(file.results.all.allSatisfy { $0 == ECANCELED })
      }
      #expect(ring.busySlots == 0)
    }
  }

  @Test func `submits operations that wait for a slot when others end`() async {
    _ = await #expect(processExitsWith: .success) {
      let ring = try #require(FileTransfers.shared.ring)
      let files = (0..<FileRing.slotCount / 32 + 2).map { _ in SilentFile() }
      for file in files { file.read(32) }
      #expect(eventually { ring.busySlots == FileRing.slotCount })
      for file in files { writeBytes(file.ends.output, 32) }
      for file in files {
        #expect(file.results.waitForCount(32))
        #expect(file.results.all.allSatisfy { $0 == 0 })
        file.stop()
        #expect(file.ended.wait())
      }
      #expect(ring.busySlots == 0)
    }
  }
}

/// Reads of one byte from an empty pipe.
private struct SilentFile {
  let ends = DescriptorPair.pipe()
  let results = Log<Int32>()
  let ended = Latch()
  private let channel: IOChannel
  private let queue = DispatchQueue(label: "silent")

  init() {
    // A read of a non-blocking pipe would not wait in the kernel.
    for end in [ends.input, ends.output] { _ = fcntl(end, F_SETFL, 0) }
    guard case .status(let status) = FileStatus.of(ends.input) else { fatalError("fstat") }
    let file = IOFile(ends.input, kind: .stored, identity: status)
    channel = IOChannel(isRandom: true, file: file, queue: queue) { [ended] _ in ended.open() }
    file.channels.append(channel)
  }

  func read(_ count: Int) {
    for _ in 0..<count {
      let operation = IOOperation(
        .read, of: channel, offset: 0, length: 1, limits: IOLimits(), queue: queue
      ) { [results] done, _, error in if done { results.append(error) } }
      channel.file.submit(operation)
    }
  }

  func stop() { channel.file.close(channel, stops: true) }
}
