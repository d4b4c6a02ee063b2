// Room: ModelChecker/FiberStacks. Fiber stacks that outlive a check: each check borrows a set.
import CFibers

enum FiberStacks {
  /// Guarded by Checker's lock: only one check runs at a time.
  nonisolated(unsafe) private static var idle: [UnsafeMutableRawPointer] = []

  static func lend(to threads: UnsafeMutablePointer<ModelThread>, bytes: Int) {
    for index in 0..<Threads.maxCount {
      guard let stack = idle.popLast() ?? gc_fiber_stack(bytes) else {
        fatalError("ModelChecker: no memory for the stack of a fiber.")
      }
      threads[index].stack = stack
      threads[index].needsNewStack = true
    }
  }

  static func takeBack(from threads: UnsafeMutablePointer<ModelThread>) {
    for index in 0..<Threads.maxCount {
      if let stack = threads[index].stack { idle.append(stack) }
      threads[index].stack = nil
    }
  }
}
