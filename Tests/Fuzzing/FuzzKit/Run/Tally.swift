// Purpose: how many drivers and items are still under way, and waiting until none is. Not built on
// any engine under test.
import Glibc
import Synchronization
import TestSupport

public final class Tally: Sendable {
  private let left: Atomic<Int>
  private let monitor = Monitor()

  /// - Parameter drivers: what is under way from the start.
  public init(drivers: Int) { left = Atomic(drivers) }

  public func begin() { left.wrappingAdd(1, ordering: .relaxed) }

  public func end() {
    // Whoever waits then sees all that was done before the last end.
    if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      monitor.change {}
    }
  }

  public func waitForAll() {
    for _ in 0..<200 where !isOver { sched_yield() }
    // How long it may take is the watchdog's business.
    while !isOver { _ = monitor.wait(seconds: 3600) { isOver } }
  }

  private var isOver: Bool { left.load(ordering: .acquiring) <= 0 }
}
