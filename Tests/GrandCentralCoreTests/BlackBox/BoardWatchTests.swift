// The thread that looks at the process's own board, and forks: contract row T6.
import CGrandCentralLinux
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The watch of the process's own board") struct BoardWatchTests {
  /// A look uses types for the first time at any moment. A child that is forked meanwhile would
  /// find locks of the Swift runtime held.
  @Test func `lets no fork happen during a look, and lets it happen between looks`() {
    // The thread begins when there are a board and an observer.
    BlackBox.open()
    let depths = Log<UInt32>()
    let observer = BoardObserver(gap: 1_000_000) {
      depths.append(gc_locks_of(currentThread()))
      ForkGate.outside(currentThread()) { depths.append(gc_locks_of(currentThread())) }
      return nil
    }
    #expect(BlackBox.shared.watch.add(observer) == 0)
    #expect(depths.waitForCount(2))
    #expect(depths.all.prefix(2) == [1, 0])
    let forker = TestThread("forker") {
      ForkGate.prepare()
      ForkGate.resumeParent()
    }
    #expect(forker.join())
    BlackBox.shared.watch.remove(observer)
  }
}
