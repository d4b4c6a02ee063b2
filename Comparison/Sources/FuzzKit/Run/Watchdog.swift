// Purpose: notices a run that does not end. It uses its own thread, because every thread of the
// run, and the thread that waits for the run, may be stuck.
import Glibc
import Synchronization
import TestSupport

public final class Watchdog: Sendable {
  /// When the run is overdue, in nanoseconds of the monotonic clock; 0 while no run is watched.
  private let deadline = Atomic<UInt64>(0)
  private let onHang: @Sendable () -> Void

  public init(onHang: @escaping @Sendable () -> Void) {
    self.onHang = onHang
    _ = TestThread("watchdog") { [self] in look() }
  }

  public func begin(milliseconds: Int) {
    deadline.store(
      monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000, ordering: .relaxed)
  }

  public func end() { deadline.store(0, ordering: .relaxed) }

  private func look() -> Never {
    while true {
      // A missing event cannot be waited for, so this polls.
      sleepMilliseconds(50)
      let overdue = deadline.load(ordering: .relaxed)
      if overdue > 0 && monotonicNanoseconds() > overdue {
        end()
        onHang()
      }
    }
  }
}

public func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
