// Purpose: threads that may block for any time, outside of any engine's pool. The tour's clients
// wait for its server, so they must not occupy the server's threads.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Runs `body` for each number below `count` on a thread of its own, and waits for all of them.
/// - Parameters:
///   - count: the number of threads.
///   - body: called with the thread's number, from 0 on.
///   - refused: called on the calling thread for each thread that the system refused.
/// - Returns: the results in order; nil where the system refused the thread.
public func onBlockingThreads<Value: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) -> Value, refused: () -> Void = {}
) -> [Value?] {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setstacksize(&attributes, 256 << 10)
  var started: [(thread: pthread_t, box: Unmanaged<ThreadBox<Value>>)?] = []
  for index in 0..<count {
    let box = Unmanaged.passRetained(ThreadBox { body(index) })
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let code = pthread_create(&thread, &attributes, runThreadBox, box.toOpaque())
    #if canImport(Glibc)
      let made: pthread_t? = code == 0 ? thread : nil
    #else
      let made = code == 0 ? thread : nil
    #endif
    if made == nil {
      box.release()
      refused()
    }
    started.append(made.map { ($0, box) })
  }
  return started.map { entry in
    guard let (thread, box) = entry else { return nil }
    pthread_join(thread, nil)
    return (box.takeRetainedValue() as ThreadBox<Value>).value
  }
}

private class AnyThreadBox {
  func run() {}
}

private final class ThreadBox<Value>: AnyThreadBox {
  private let body: () -> Value
  private(set) var value: Value?

  init(_ body: @escaping () -> Value) { self.body = body }

  override func run() { value = body() }
}

private let runThreadBox: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
  // SAFETY: onBlockingThreads() holds this reference until it has joined this thread.
  Unmanaged<AnyThreadBox>.fromOpaque($0!).takeUnretainedValue().run()
  return nil
}
