// A thread for tests of deadlock cycles.
import TestSupport

@testable import GrandCentralCore

/// A thread that shows when its wait for a lane is registered: see LongWait.
final class Waiter: Sendable {
  private let context = Box<UInt>(0)
  private let thread = Box<TestThread?>(nil)

  func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    thread.value = TestThread(name) { [context] in
      context.value = UInt(bitPattern: currentThread())
      body()
    }
  }

  var isRegistered: Bool {
    eventually {
      guard let thread = ThreadContext(bitPattern: context.value) else { return false }
      return LongWait.isRegistered(thread)
    }
  }

  func join() -> Bool { thread.value?.join() ?? false }
}
