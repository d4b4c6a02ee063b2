import CGrandCentralLinux
import GrandCentralPrimitives
import TestSupport
import Testing

/// These tests call the fork handlers without forking. Other suites may wait at the gate briefly.
@Suite("The fork gate", .serialized) struct ForkGateTests {
  @Test func `waits for threads that hold a lock, and admits no others`() {
    let lock = SharedLock()
    let (inside, go, prepared, end, entered) = (Latch(), Latch(), Latch(), Latch(), Latch())
    let holder = TestThread("holder") {
      lock.lock.withLock {
        inside.open()
        _ = go.wait()
        // A thread inside one lock may enter another.
        SharedLock().lock.withLock {}
        #expect(!prepared.isOpen)
      }
    }
    #expect(inside.wait())
    let own = Box<UInt>(0)
    let forker = TestThread("forker") {
      own.value = UInt(bitPattern: currentThread())
      ForkGate.prepare()
      prepared.open()
      // The thread that closed the gate may still take locks.
      lock.lock.withLock {}
      _ = end.wait()
      #expect(!entered.isOpen)
      ForkGate.resumeParent()
    }
    // Threads of other tests may close the gate before.
    #expect(eventually { own.value != 0 && gc_fork_seen_closer() == own.value })
    let late = TestThread("late") {
      SharedLock().lock.withLock { entered.open() }
    }
    go.open()
    #expect(prepared.wait())
    end.open()
    #expect(entered.wait())
    for thread in [holder, forker, late] { #expect(thread.join()) }
  }

  @Test func `opens after as many calls as have closed it`() {
    let thread = TestThread("forker") {
      ForkGate.prepare()
      ForkGate.prepare()
      ForkGate.resumeParent()
      let own = UInt(bitPattern: currentThread())
      #expect(gc_fork_seen_closer() == own)
      ForkGate.resumeParent()
      #expect(gc_fork_seen_closer() != own)
      ForkGate.resumeParent()
    }
    #expect(thread.join())
  }

  @Test func `changes nothing without a fork`() {
    let generation = ForkGate.generation
    ForkGate.resumeChild()
    #expect(ForkGate.generation == generation)
  }

  @Test func `lets threads fork one after the other`() {
    let count = Counter()
    #expect(
      onThreads(4) { _ in
        for _ in 0..<stressed(200) {
          ForkGate.prepare()
          // No other thread is between `prepare()` and `resumeParent()`.
          count.add()
          count.add(-1)
          ForkGate.resumeParent()
        }
      })
    #expect(count.peak == 1)
  }
}
