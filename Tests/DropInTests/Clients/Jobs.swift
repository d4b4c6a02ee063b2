// Tasks, actors, the main actor, sleeps and priorities, without any other use of Dispatch. Prints
// whether the runtime's global executor has a hook, and the number of jobs that this causes at
// least.
import Glibc

actor Counter {
  var count = 0
  func add() { count += 1 }
}

@MainActor var onMain = 0
@MainActor func addOnMain() { onMain += 1 }

@main struct Program {
  static let priorities: [TaskPriority] = [.background, .low, .medium, .high]

  static func main() async throws {
    // Before any other job: the main actor's own.
    for priority in priorities {
      await Task(priority: priority) { @MainActor in addOnMain() }.value
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { await Task.yield() } }
    }
    for priority in priorities {
      await Task.detached(priority: priority) { for _ in 0..<50 { await addOnMain() } }.value
    }
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for priority in priorities {
        group.addTask(priority: priority) { for _ in 0..<50 { await counter.add() } }
      }
    }
    for _ in 0..<20 { try await Task.sleep(for: .microseconds(10)) }
    await Task.detached {
      for _ in 0..<20 { try? await Task.sleep(nanoseconds: 10_000) }
    }.value
    await Task(priority: .low) { @MainActor in try? await Task.sleep(for: .microseconds(10)) }.value
    print("main=\(onMain) actor=\(await counter.count)")
    let hook = dlsym(nil, "swift_task_enqueueGlobal_hook")
    print("hook=\(hook?.load(as: UnsafeRawPointer?.self) != nil)")
    // Each task once, each yield, each hop onto the main actor, each end of a sleep.
    // 4 + 400 + 4 × 51 + 4 + 20 + 21
    print("least=653")
  }
}
