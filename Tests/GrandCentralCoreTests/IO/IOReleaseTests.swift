// The release of a file, while other threads make channels for the same descriptor.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The release of a file") struct IOReleaseTests {
  private let pipe = DescriptorPair.pipe()

  private func channel(
    leavesAlone: Bool = false, cleanup: @escaping @Sendable (Int32) -> Void
  ) -> IOChannel {
    IOTable.shared.channel(
      pipe.output, isRandom: false, queue: .global(), leavesAlone: leavesAlone, cleanup: cleanup)
  }

  /// The first half of IOFile.close(): the release is left to the caller.
  private func detach(_ channel: IOChannel) -> Bool {
    channel.file.lock.withLock {
      channel.isClosed = true
      return channel.file.detachIfDone(channel)
    }
  }

  @Test func `that finds a new channel ends single operations, and leaves the others`() {
    let (ended, cleanups) = (Latch(), Log<Int>())
    let usual = channel { _ in cleanups.append(1) }
    let single = channel(leavesAlone: true) { _ in ended.open() }
    let file = usual.file
    #expect(!detach(usual))
    #expect(detach(single), "it is the last one")
    let new = channel { _ in cleanups.append(2) }
    #expect(new.file === file)
    IOTable.shared.release(file)
    #expect(ended.wait())
    #expect(!file.lock.withLock { file.isOver })
    // Both cleanup handlers wait for the last channel.
    #expect(file.lock.withLock { file.leavers.count } == 1)
    file.close(new, stops: false)
    #expect(cleanups.waitForCount(2))
    #expect(Set(cleanups.all) == [1, 2])
    #expect(file.lock.withLock { file.isOver })
    pipe.closeBoth()
  }
}
