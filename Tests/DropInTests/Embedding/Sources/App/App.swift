// A program that embeds the engine. It prints whether the work of the toolchain's libraries runs on
// the engine's threads, which have names of their own.
import Foundation
import GrandCentralDropIn

func isOnEngine() -> Bool {
  let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
  // The engine names its threads after itself, or after the queue whose items they run. The
  // toolchain's threads have the program's name.
  return name.map { $0 != "App\n" } ?? false
}

/// Returns how many operations ran on the engine's threads.
func operations(_ count: Int) -> Int {
  let operations = OperationQueue()
  let lock = NSLock()
  nonisolated(unsafe) var found = 0
  for _ in 0..<count {
    operations.addOperation { lock.withLock { found += isOnEngine() ? 1 : 0 } }
  }
  operations.waitUntilAllOperationsAreFinished()
  return found
}

/// Returns how many tasks ran on the engine's threads.
func tasks(_ count: Int) async -> Int {
  await withTaskGroup(of: Bool.self) { group in
    for _ in 0..<count { group.addTask { isOnEngine() } }
    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
  }
}

@main struct App {
  static func main() async throws {
    print("in charge: \(isDispatchInterposed)")
    print("operations: \(operations(100))")
    print("tasks: \(await tasks(100))")
    let slept = Task.detached {
      try await Task.sleep(for: .milliseconds(5))
      return isOnEngine()
    }
    print("a sleep's end: \(try await slept.value)")
    let queue = DispatchQueue(label: "queue")
    let item = await withCheckedContinuation { done in
      queue.async { done.resume(returning: isOnEngine()) }
    }
    print("an item: \(item)")
    await MainActor.run { dispatchPrecondition(condition: .onQueue(.main)) }
    print("main actor: true")
    print("bridges: \(bridgesAreTargets() && bridgesKeepBytes())")
  }
}
