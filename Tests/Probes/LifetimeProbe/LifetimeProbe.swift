// Releases the last reference during each call, in Swift: the effect of a call drops the last
// reference to the object, at once and on another thread, while the call is still inside the
// engine. A Swift caller retains the object that it calls, but the optimiser may end that at the
// last use that it sees, so this is also built with optimisation and the address sanitizer
// (scripts/dev lifetimes). Prints `ended=N`, the number of rounds that reached their last effect.
//   LifetimeProbe [ROUNDS]     rounds of each kind; default 300
import Glibc
import GrandCentral
import TestSupport

/// The only reference to an object. The thread that ends a round drops it.
final class Holder<Object: AnyObject>: @unchecked Sendable {
  nonisolated(unsafe) private var object: Object?

  init(_ object: Object) { self.object = object }

  /// Calls `body` with the object, which is retained for the call only.
  @inline(__always)
  func use(_ body: (Object) -> Void) { if let object { body(object) } }

  func drop() { object = nil }
}

/// One round of a kind. Its last effect calls `ended`.
typealias Round = @Sendable (_ ended: @escaping @Sendable () -> Void) -> Void

@main struct LifetimeProbe {
  static func main() {
    let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 300
    let threads = 3
    var total = 0
    for (name, round) in (sourceKinds + queueKinds + waitKinds + channelKinds) {
      let all = Latch(threads * rounds)
      // Few rounds at a time, so that effects race with calls.
      let room = Semaphore(32)
      let began = onThreads(threads) { _ in
        for _ in 0..<rounds {
          room.wait()
          round {
            room.signal()
            all.open()
          }
        }
      }
      guard began, all.wait() else {
        print("\(name) has not ended")
        exit(1)
      }
      total += threads * rounds
    }
    print("ended=\(total)")
    fflush(nil)
  }
}

/// A POSIX semaphore, because the engine's is under test.
final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init(_ value: UInt32) { sem_init(semaphore, 0, value) }
  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }
  func wait() { while sem_wait(semaphore) != 0 {} }
  func signal() { sem_post(semaphore) }
}

/// Runs `body` on a thread that does not belong to the engine.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
  _ = TestThread("elsewhere", body)
}
