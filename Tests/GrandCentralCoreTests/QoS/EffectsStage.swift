// A thread whose settings change with its class, and a monitor that the test plays.
import TestSupport
import Testing

@testable import GrandCentralCore

/// A monitor that does nothing, or is not there.
final class Watcher: EffectsWatcher, Sendable {
  let isThere: Bool
  let requests = Box(0)
  init(isThere: Bool = true) { self.isThere = isThere }

  func watchEffects() -> Bool {
    requests.value += 1
    return isThere
  }

  /// Calls `body` on a thread that it watches, in class default.
  func play(_ body: @escaping @Sendable (ThreadContext) -> Void) {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false, watcher: self)
      body(thread)
      ThreadEffects.leave(thread)
      #expect(thread.classInPlace == 0)
    }
    #expect(isDone)
  }
}
