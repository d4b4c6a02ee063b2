// Threads that are joined after their last destructor, and waits for state that sends no event.
import CGrandCentralLinux
import Glibc
import GrandCentralPrimitives
import TestSupport

/// Runs `body` on a new thread; returns when the thread has ended, including its destructors.
func onJoinedThread(_ body: @escaping @Sendable () -> Void) {
  final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var handle = pthread_t()
  let error = pthread_create(
    &handle, nil,
    { raw in
      Unmanaged<Start>.fromOpaque(raw!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Start(body)).toOpaque())
  guard error == 0 else { fatalError("pthread_create: \(error)") }
  pthread_join(handle, nil)
}

/// Whether /proc shows a thread of this process as sleeping. proc(5): the state follows the name.
func isAsleep(_ thread: UInt32) -> Bool {
  guard let line = contents(of: "/proc/self/task/\(thread)/stat"),
    let end = line.lastIndex(of: ")")
  else { return false }
  return line[end...].dropFirst(2).first == "S"
}

/// An atomic word that closures can share and threads can sleep on.
final class SharedWord<Value: AtomicRepresentable>: @unchecked Sendable {
  let atomic: Atomic<Value>
  init(_ value: consuming Value) { atomic = Atomic(value) }
}

final class SharedLock: Sendable {
  let lock = Lock()
}

/// Deadlines in the past and in the far future.
extension Deadline {
  static func past(isWall: Bool) -> Deadline {
    isWall ? .wall(nanoseconds: 1) : .monotonic(nanoseconds: 1)
  }

  static func inSeconds(_ seconds: UInt64, isWall: Bool) -> Deadline {
    let nanoseconds = seconds * 1_000_000_000
    return isWall
      ? .wall(nanoseconds: Clock.wallNanoseconds() + nanoseconds)
      : .monotonic(nanoseconds: Clock.monotonicNanoseconds() + nanoseconds)
  }
}
