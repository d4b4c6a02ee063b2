import CGrandCentralLinux
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

private func address(_ thread: ThreadContext) -> UInt { UInt(bitPattern: thread) }

@Suite("A thread's context", .serialized) struct ThreadRegistryTests {
  @Test func `is the same at each call and another on each thread`() {
    let all = Log<UInt>()
    let meeting = Latch(4)
    let ended = onThreads(4) { _ in
      let first = currentThread()
      #expect(currentThread() == first)
      #expect(first.pointee.tid == gc_thread_id())
      #expect(first.shared.threadID.load(ordering: .relaxed) == gc_thread_id())
      all.append(address(first))
      // All four threads are alive at the same time.
      meeting.open()
      #expect(meeting.wait())
    }
    #expect(ended)
    #expect(Set(all.all).count == 4)
  }

  @Test func `has a cache line of its own`() {
    #expect(address(currentThread()) % 64 == 0)
    #expect(MemoryLayout<gc_thread>.size <= 128)
  }

  @Test func `is reused by later threads, and fresh for each`() {
    let all = Log<UInt>()
    for _ in 0..<200 {
      onJoinedThread {
        let own = currentThread()
        #expect(own.pointee.frame?.pointee.previous == nil && own.pointee.worker == nil)
        #expect(own.pointee.nodes == nil && own.pointee.node_count == 0)
        #expect(own.pointee.qos == 0 && own.pointee.next_free == nil)
        #expect(!own.pointee.in_full_loop)
        own.pointee.qos = 3
        own.pointee.in_full_loop = true
        own.pointee.worker = UnsafeMutableRawPointer(bitPattern: 64)
        all.append(address(own))
      }
    }
    // Other tests create threads meanwhile, which may reuse an entry or two.
    #expect(Set(all.all).count < 100)
  }

  @Test func `is not reused after its thread has ended inside an item`() {
    let context = Box<UInt>(0)
    onJoinedThread {
      let own = currentThread()
      context.value = address(own)
      _ = own.enterFrame(of: nil)
    }
    for _ in 0..<20 { onJoinedThread { #expect(address(currentThread()) != context.value) } }
  }

  @Test func `is reused after its thread has left all frames`() {
    let all = Log<UInt>()
    for _ in 0..<200 {
      onJoinedThread {
        let own = currentThread()
        let outer = own.enterFrame(of: nil)
        _ = own.enterFrame(of: nil)
        own.leaveFrame(to: outer)
        all.append(address(own))
      }
    }
    #expect(Set(all.all).count < 100)
  }

  @Test func `reports that its thread has ended`() {
    let context = Box<UInt>(0)
    onJoinedThread { context.value = address(currentThread()) }
    let thread = ThreadContext(bitPattern: context.value)!
    // The id is zero while no later thread uses the entry.
    #expect(eventually { thread.shared.threadID.load(ordering: .relaxed) == 0 })
  }

  @Test func `is passed to the exit handler while it belongs to the thread`() async {
    // In a process of its own, because a process has one handler.
    await #expect(processExitsWith: .success) {
      let ended = Log<[UInt]>()
      ThreadRegistry.setExitHandler { thread in
        ended.append([
          address(thread), UInt(thread.shared.threadID.load(ordering: .relaxed)),
          UInt(gc_thread_id()),
        ])
      }
      let own = Box<[UInt]>([])
      onJoinedThread {
        let thread = currentThread()
        own.value = [address(thread), UInt(gc_thread_id()), UInt(gc_thread_id())]
      }
      exit(ended.all.contains(own.value) ? 0 : 1)
    }
  }

  // Tests run after the main thread has ended; Tests/Probes covers the main thread.
  @Test func `is the main thread's for no other thread`() {
    onJoinedThread {
      let own = currentThread()
      #expect(!ThreadRegistry.isMainThread)
      #expect(ThreadRegistry.mainThread != own)
      #expect(own.pointee.qos == 0)
    }
  }

  @Test func `says which queue its thread works on`() {
    onJoinedThread {
      let own = currentThread()
      own.setCurrentQueueLabel(4096)
      #expect(own.shared.workingOn.load(ordering: .relaxed) == 4096)
      own.setCurrentQueueLabel(0)
      #expect(own.shared.workingOn.load(ordering: .relaxed) == 0)
    }
  }
}
