// Purpose: how many drivers and items are still under way, and waiting until none is. Not built on any
// engine under test.
import Glibc
import Synchronization

public final class Tally: Sendable {
  private let left: Atomic<Int>
  private let monitor = Monitor()

  /// - Parameter drivers: what is under way from the start.
  public init(drivers: Int) { left = Atomic(drivers) }

  public func begin() { left.wrappingAdd(1, ordering: .relaxed) }

  public func end() {
    // Whoever waits then sees all that was done before the last end.
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      monitor.withLock { monitor.signalAll() }
    }
  }

  public func waitForAll() {
    for _ in 0..<200 where left.load(ordering: .acquiring) > 0 { sched_yield() }
    monitor.withLock {
      while left.load(ordering: .acquiring) > 0 { monitor.wait() }
    }
  }
}
