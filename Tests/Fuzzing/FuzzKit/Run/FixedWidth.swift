// Purpose: an engine that never lets more items run than its width, whatever they do, as a fault:
// work waits for ever behind items that wait busily for it. An item that waits in a call of the
// engine gives its place up for the time, so that only busy waits hang.
import Glibc
import TestSupport

// SAFETY: guarded by the monitor.
public final class FixedWidth: @unchecked Sendable {
  private let monitor = Monitor()
  private var free: Int
  /// The threads that have a place.
  private var holders: Set<UInt> = []

  public init(_ width: Int) { free = width }

  /// Runs an item's inside in a place of its own, unless its thread has one.
  public func run(_ body: () -> Void) {
    let isOuter = take()
    body()
    if isOuter { give() }
  }

  /// Makes a call in which the thread may wait, without a place.
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
