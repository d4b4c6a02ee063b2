// Purpose: the threads on which drivers run: plain ones outside all queues, kept from program to
// program because making a thread costs as much as running a small program.
import TestSupport

/// Use it from one thread.
public final class Crew: Sendable {
  private let members: [Member]

  public init(count: Int = 2) { members = (0..<count).map { _ in Member() } }

  /// Runs jobs 0 ..< count at the same time, the first one on this thread, and returns when that is
  /// done. The others may still be at work.
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
    // A member works as long as the process lives.
    _ = TestThread("driver") { [self] in
      while true { next()() }
    }
  }

  /// The last job is over, but its thread may not have come back yet.
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
