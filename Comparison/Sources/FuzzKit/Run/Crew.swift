// Purpose: the threads on which drivers run: plain threads outside all queues, reused for the next
// program because creating a thread costs as much as running a small program.
import TestSupport

/// A set of driver threads. Use it from one thread.
public final class Crew: Sendable {
  private let members: [Member]

  public init(count: Int = 2) { members = (0..<count).map { _ in Member() } }

  /// Runs jobs 0 ..< count at the same time, the first one on this thread. Returns when the first
  /// has ended; the others may still run.
  public func run(_ count: Int, _ job: @escaping @Sendable (Int) -> Void) {
    for number in 1..<max(1, count) { members[number - 1].post { job(number) } }
    if count > 0 { job(0) }
  }
}

// SAFETY: `job` is guarded by the monitor.
private final class Member: @unchecked Sendable {
  private let monitor = Monitor()
  private var job: (@Sendable () -> Void)?

  init() {
    // The thread runs until the process exits.
    _ = TestThread("driver") { [self] in
      while true { next()() }
    }
  }

  /// Passes the next job to the thread, which may not have returned from the last one yet.
  func post(_ job: @escaping @Sendable () -> Void) { monitor.change { self.job = job } }

  private func next() -> @Sendable () -> Void {
    while true {
      _ = monitor.wait(seconds: 3600) { job != nil }
      let taken = monitor.withLock {
        defer { job = nil }
        return job
      }
      if let taken { return taken }
    }
  }
}
