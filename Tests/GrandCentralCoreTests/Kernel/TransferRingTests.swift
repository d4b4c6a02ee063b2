import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

/// A ring with its own wake-up descriptor. At most one exists at a time, besides the engine's.
private struct OwnRing {
  let ring: TransferRing
  let wakeDescriptor: Int32

  func free() {
    ring.free()
    close(wakeDescriptor)
  }

  /// Waits for `count` completions. Returns their results by key.
  func wait(for count: Int) -> [UInt64: Int32] {
    var results: [UInt64: Int32] = [:]
    _ = eventually {
      while let next = ring.next() { results[next.key] = next.result }
      return results.count >= count
    }
    return results
  }

  var hasSignalled: Bool {
    var request = pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) == 1
  }
}

private func ownRing(_ entries: Int = 4) throws -> OwnRing {
  let wakeDescriptor = gc_eventfd()
  switch TransferRing.make(entries: entries, wakeDescriptor: wakeDescriptor) {
  case .success(let ring): return OwnRing(ring: ring, wakeDescriptor: wakeDescriptor)
  case .failure(let error):
    close(wakeDescriptor)
    throw TestError.errno(error.number)
  }
}

private enum TestError: Error { case errno(Int32) }

// The engine records one ring that a forked child leaves alone, so each test has its own process.
@Suite(
  "An io_uring of transfers", .serialized,
  .enabled(if: DispatchIO.fileBackend.kind == .uring, "needs io_uring"))
struct TransferRingTests {
  @Test func `writes and reads at an offset, and completes each once`() async {
    _ = await #expect(processExitsWith: .success) {
      let own = try ownRing()
      let folder = ScratchFolder()
      let file = folder.file("ring")
      let text = Array("grand central".utf8)
      try text.withUnsafeBytes { bytes in
        let parts = [
          Transfer.Stretch(start: bytes.baseAddress, bytes: 5),
          Transfer.Stretch(start: bytes.baseAddress! + 5, bytes: bytes.count - 5),
        ]
        try #require(own.ring.addWrite(file, parts, 2, at: 100, key: 7))
        #expect(own.ring.enter() == .all)
        #expect(own.wait(for: 1) == [7: Int32(text.count)])
      }
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 100)
      defer { buffer.deallocate() }
      try #require(own.ring.addRead(file, into: buffer, 100, at: 106, key: 8))
      try #require(own.ring.addRead(file, into: buffer + 50, 50, at: 1000, key: 9))
      #expect(own.ring.enter() == .all)
      #expect(own.wait(for: 2) == [8: 7, 9: 0])
      #expect(Array(UnsafeBufferPointer(start: buffer, count: 7)) == Array("central".utf8))
      #expect(own.ring.next() == nil)
      own.free()
    }
  }

  @Test func `passes each transfer's priority`() async {
    _ = await #expect(processExitsWith: .success) {
      let own = try ownRing()
      let zero = open("/dev/zero", O_RDONLY)
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
      defer { buffer.deallocate() }
      let noClass = IOPriority(rawValue: 7 << 13)
      let priorities: [IOPriority] = [.unset, .bestEffort(0), .bestEffort(6), .idle, noClass]
      for priority in priorities {
        var part = Transfer.Stretch(start: UnsafePointer(buffer), bytes: 1)
        let expected = priority == noClass ? -EINVAL : 1
        try #require(
          own.ring.addRead(zero, into: buffer, 1, at: 0, key: 1, priority: priority)
            && own.ring.addWrite(
              open("/dev/null", O_WRONLY), &part, 1, at: 0, key: 2, priority: priority)
        )
        #expect(own.ring.enter() == .all)
        // The kernel rejects the invalid priority, so it receives the priorities.
        #expect(own.wait(for: 2) == [1: expected, 2: expected])
      }
      own.free()
    }
  }

  @Test func `has room for its entries, and returns those that were not taken`() async {
    _ = await #expect(processExitsWith: .success) {
      let own = try ownRing(4)
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
      defer { buffer.deallocate() }
      let null = open("/dev/zero", O_RDONLY)
      for key in 0..<4 as Range<UInt64> {
        #expect(own.ring.addRead(null, into: buffer, 1, at: 0, key: key))
      }
      #expect(!own.ring.addRead(null, into: buffer, 1, at: 0, key: 4))
      #expect(own.ring.takeBack() == 3 && own.ring.takeBack() == 2)
      #expect(own.ring.enter() == .all)
      #expect(own.ring.takeBack() == nil)
      #expect(own.wait(for: 2) == [0: 1, 1: 1])
      // Wraps around the end of the ring's arrays several times.
      for round in 0..<50 as Range<UInt64> {
        for key in 0..<3 as Range<UInt64> {
          #expect(own.ring.addRead(null, into: buffer, 1, at: 0, key: round * 10 + key))
        }
        #expect(own.ring.enter() == .all)
        #expect(own.wait(for: 3).keys.sorted() == (0..<3).map { round * 10 + $0 })
      }
      own.free()
    }
  }

  @Test func `signals only while that is enabled, and ends what waits`() async {
    _ = await #expect(processExitsWith: .success) {
      let own = try ownRing()
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
      defer { buffer.deallocate() }
      let ends = DescriptorPair.pipe()
      // A read of a blocking pipe waits in the kernel.
      for end in [ends.input, ends.output] { _ = fcntl(end, F_SETFL, 0) }
      own.ring.enableWakeDescriptor(false)
      let zero = open("/dev/zero", O_RDONLY)
      #expect(own.ring.addRead(zero, into: buffer, 1, at: 0, key: 1))
      #expect(own.ring.enter() == .all)
      #expect(own.wait(for: 1) == [1: 1])
      #expect(!own.hasSignalled)
      own.ring.enableWakeDescriptor(true)
      #expect(own.ring.addRead(ends.input, into: buffer, 1, at: 0, key: 2))
      #expect(own.ring.enter() == .all)
      #expect(own.ring.next() == nil && !own.hasSignalled)
      writeBytes(ends.output, 1)
      #expect(eventually { own.hasSignalled })
      #expect(own.wait(for: 1) == [2: 1])
      #expect(own.ring.addRead(ends.input, into: buffer, 1, at: 0, key: 3))
      #expect(own.ring.addCancel(of: 3))
      #expect(own.ring.enter() == .all)
      #expect(own.wait(for: 2) == [3: -ECANCELED, TransferRing.noKey: 0])
      own.free()
    }
  }

  @Test func `has errors of its own for what is wrong`() async {
    _ = await #expect(processExitsWith: .success) {
      let own = try ownRing()
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
      defer { buffer.deallocate() }
      #expect(own.ring.addRead(9999, into: buffer, 1, at: 0, key: 1))
      #expect(own.ring.enter() == .all)
      #expect(own.wait(for: 1) == [1: -EBADF])
      own.free()
      #expect(
        TransferRing.make(entries: 1 << 20, wakeDescriptor: own.wakeDescriptor).error == EINVAL)
      #expect(TransferRing.make(entries: 4, wakeDescriptor: -1).error == EBADF)
    }
  }
}

extension Result where Failure == SystemError {
  fileprivate var error: Int32? {
    if case .failure(let error) = self { error.number } else { nil }
  }
}
