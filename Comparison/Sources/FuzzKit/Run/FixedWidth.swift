// Purpose: a fault: an engine that never runs more items than its width. Work then waits for ever
// behind items that wait busily for it. An item that waits in a call of the engine gives its permit
// up for that time, so that only busy waits hang.
import Glibc
import TestSupport

// SAFETY: guarded by the monitor.
public final class FixedWidth: @unchecked Sendable {
  private let monitor = Monitor()
  private var free: Int
  /// The threads that hold a permit.
  private var holders: Set<UInt> = []

  public init(_ width: Int) { free = width }

  /// Runs an item's body with a permit. A thread that has one keeps using it.
  public func run(_ body: () -> Void) {
    let isOuter = take()
    body()
    if isOuter { give() }
  }

  /// Makes a call in which the thread may wait, without a permit.
  public func wait(_ call: () -> Void) {
    let hadPlace = give()
    call()
    if hadPlace { take() }
  }

  @discardableResult private func take() -> Bool {
    let thread = UInt(pthread_self())
    if monitor.withLock({ holders.contains(thread) }) { return false }
    while true {
      let isTaken = monitor.withLock {
        if free == 0 { return false }
        free -= 1
        holders.insert(thread)
        return true
      }
      if isTaken { return true }
      _ = monitor.wait(seconds: 3600) { free > 0 }
    }
  }

  @discardableResult private func give() -> Bool {
    let thread = UInt(pthread_self())
    var hadPlace = false
    monitor.change {
      hadPlace = holders.remove(thread) != nil
      if hadPlace { free += 1 }
    }
    return hadPlace
  }
}
