// Purpose: counts the drivers and items that have not ended, and waits until there are none. It
// does not use any engine under test.
import Glibc
import Synchronization
import TestSupport

public final class Tally: Sendable {
  private let left: Atomic<Int>
  private let monitor = Monitor()

  /// - Parameter drivers: the count at the start.
  public init(drivers: Int) { left = Atomic(drivers) }

  public func begin() { left.wrappingAdd(1, ordering: .relaxed) }

  public func end() {
    // The waiting thread then sees everything that was done before the last end.
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      monitor.change {}
    }
  }

  public func waitForAll() {
    for _ in 0..<200 where !isOver { sched_yield() }
    // The watchdog limits the time.
    while !isOver { _ = monitor.wait(seconds: 3600) { isOver } }
  }

  private var isOver: Bool { left.load(ordering: .acquiring) <= 0 }
}
