// Purpose: notices a run that does not end. It looks from a thread of its own, because every thread of the
// run, and the one that waits for it, may be what hangs.
import Glibc
import Synchronization

public final class Watchdog: Sendable {
  /// When the run is overdue, in nanoseconds of the monotonic clock; 0 while none is watched.
  private let deadline = Atomic<UInt64>(0)
  private let onHang: @Sendable () -> Void

  public init(onHang: @escaping @Sendable () -> Void) {
    self.onHang = onHang
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { raw in
        // SAFETY: retained below; a watchdog lives as long as the process.
        Unmanaged<Watchdog>.fromOpaque(raw!).takeUnretainedValue().look()
      }, Unmanaged.passRetained(self).toOpaque())
    guard result == 0 else { fatalError("pthread_create: \(result)") }
    pthread_detach(thread)
  }

  public func begin(milliseconds: Int) {
    deadline.store(
      monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000, ordering: .relaxed)
  }

  public func end() { deadline.store(0, ordering: .relaxed) }

  private func look() -> Never {
    while true {
      // That something did not happen is no event to wait for.
      usleep(50_000)
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
