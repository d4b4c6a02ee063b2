// POSIX threads that start together.

import Glibc
import Synchronization

private final class Body: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a joinable thread that runs `body`.
public func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  let context = Unmanaged.passRetained(Body(body))
  let failure = pthread_create(
    &thread, nil,
    { raw in
      if let raw { Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }
      return nil
    }, context.toOpaque())
  if failure != 0 { fail("pthread_create: \(failure)") }
  return thread
}

/// Runs `body` on `threads` threads at once. Returns the nanoseconds from the moment when all are
/// ready until the last has finished.
public func together(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) -> UInt64
{
  let ready = Signal()
  let gate = Signal()
  let handles = (0..<threads).map { index in
    startThread {
      ready.post()
      gate.wait()
      body(index)
    }
  }
  for _ in handles { ready.wait() }
  let start = now()
  for _ in handles { gate.post() }
  for handle in handles { pthread_join(handle, nil) }
  return now() - start
}

/// A flag that ends the contention.
public final class Stop: Sendable {
  public init() {}

  @usableFromInline let flag = Atomic(false)
  @inlinable public var isSet: Bool { flag.load(ordering: .relaxed) }
  public func set() { flag.store(true, ordering: .relaxed) }
}

/// Lets `threads` threads contend for `microseconds`. Each body returns its number of operations.
///
/// The duration is fixed, not the count: with a count, a thread that often wins the lock would
/// finish early and leave less contention to the others.
public func contend(
  _ threads: Int, microseconds: Int,
  _ body: @escaping @Sendable (_ thread: Int, _ stop: Stop) -> Int
) -> (nanoseconds: UInt64, operations: Int) {
  let stop = Stop()
  let total = Counter()
  let timer = startThread {
    sleep(microseconds: microseconds)
    stop.set()
  }
  let time = together(threads) { index in
    total.value.wrappingAdd(body(index, stop), ordering: .relaxed)
  }
  pthread_join(timer, nil)
  return (time, max(1, total.value.load(ordering: .relaxed)))
}

private final class Counter: Sendable {
  let value = Atomic(0)
}
