import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Whether an exit test's process wrote `text` to standard error.
func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(text)
}

/// A POSIX thread, so that the tests here do not depend on the engine's threads.
final class TestThread: @unchecked Sendable {
  private var handle = pthread_t()
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    let error = pthread_create(
      &handle, nil,
      { raw in
        Unmanaged<TestThread>.fromOpaque(raw!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(error == 0)
  }

  func join() { pthread_join(handle, nil) }

  /// Runs `body` with 0 ..< count on `count` threads, and waits for all of them.
  static func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).map { index in TestThread { body(index) } }
    for thread in threads { thread.join() }
  }

  /// Yields the CPU until `condition` holds.
  static func yieldUntil(_ condition: () -> Bool) {
    while !condition() { sched_yield() }
  }
}
