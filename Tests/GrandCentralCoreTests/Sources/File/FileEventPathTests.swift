// The path of a file's event to its handler: no step may sleep, poll or wake another thread.
import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("An event of a file") struct FileEventPathTests {
  @Test func `is handled by the thread that received it, which waits without a timeout`() async {
    // In a process of its own: other tests could leave the pool without a free CPU for the thread.
    await #expect(processExitsWith: .success) {
      let folder = ScratchFolder()
      let file = folder.file("file")
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: file, eventMask: .write, queue: DispatchQueue(label: "files"))
      let threads = Log<UInt32>()
      let isRegistered = Latch()
      source.setRegistrationHandler { isRegistered.open() }
      source.setEventHandler { threads.append(gc_thread_id()) }
      source.activate()
      guard isRegistered.wait() else { exit(1) }
      let poller = Reactor.shared.poller
      // The last thread in the wait hands its events to the pool. The first thread does the same
      // until a second thread has joined the wait.
      for round in 1...1000 {
        writeBytes(file, 1)
        guard threads.waitForCount(round) else { exit(2) }
        let waiting = poller.lock.withLock {
          [poller.first, poller.second].compactMap {
            $0.externalWorker?.threadID.load(ordering: .relaxed)
          }
        }
        guard let last = threads.all.last, waiting.contains(last) else { continue }
        exit(poller.isShort.load(ordering: .relaxed) ? 3 : 0)
      }
      exit(4)
    }
  }
}
