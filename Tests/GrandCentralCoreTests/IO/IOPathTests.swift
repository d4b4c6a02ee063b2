// Channels by path whose file changes between the first look and the first operation.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A channel by path") struct IOPathTests {
  private let folder = ScratchFolder()

  @Test func `of a file that became a FIFO reports it to its operations, and cleans up with 0`() {
    close(folder.file("a"))
    let (cleanups, queue) = (Log<Int32>(), DispatchQueue(label: "path"))
    let channel = folder["a"].withCString {
      IOTable.shared.channel(
        IOFile.Path($0, flags: O_RDWR, mode: 0), isRandom: true, queue: queue
      ) { cleanups.append($0) }
    }
    let file = channel.file
    #expect(eventually { file.lock.withLock { file.stage == .unopened } })
    unlink(folder["a"])
    mkfifo(folder["a"], 0o600)
    let errors = Log<Int32>()
    for count in 1...2 {
      file.submit(
        IOOperation(
          .read, of: channel, offset: 0, length: 10, limits: IOLimits(), queue: queue
        ) { isDone, data, error in
          #expect(isDone && data == nil)
          errors.append(error)
        })
      #expect(errors.waitForCount(count))
    }
    #expect(errors.all == [ESPIPE, ESPIPE])
    #expect(cleanups.all == [])
    file.close(channel, stops: false)
    #expect(cleanups.waitForCount(1))
    #expect(cleanups.all == [0])
  }

  @Test func `that is stopped while the file is opened cleans up after the open`() {
    let (cleanups, queue) = (Log<Bool>(), DispatchQueue(label: "path"))
    let exists = { [folder] in access(folder["new"], F_OK) == 0 }
    let channel = folder["new"].withCString {
      IOTable.shared.channel(
        IOFile.Path($0, flags: O_WRONLY | O_CREAT, mode: 0o600), isRandom: false, queue: queue
      ) { _ in cleanups.append(exists()) }
    }
    let file = channel.file
    #expect(eventually { file.lock.withLock { file.stage == .unopened } })
    // As advance() does, but this thread opens the file, after the stop.
    file.lock.withLock { file.stage = .opening }
    file.close(channel, stops: true)
    queue.sync {}
    #expect(cleanups.all == [] && !exists())
    file.openPath()
    #expect(cleanups.waitForCount(1))
    #expect(cleanups.all == [true])
    #expect(file.lock.withLock { file.isOver })
  }
}
