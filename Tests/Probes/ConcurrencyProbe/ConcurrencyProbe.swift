// Takes over Swift Concurrency in a process of its own, because the hooks serve a whole process.
// Prints name=value lines for TakeOverTests.
import Glibc
import GrandCentral
import TestSupport

@main struct ConcurrencyProbe {
  static func main() {
    let isTaken = takeOverConcurrency()
    if CommandLine.arguments.last == "classes" {
      Task.detached { await checkClasses() }
    } else {
      Task { await check(isTaken) }
    }
    dispatchMain()
  }

  /// For each main-actor job: its task's priority, the class of its thread, and the class that it
  /// passes on to what it submits.
  private static func checkClasses() async {
    var seen: [(priority: UInt8, own: DispatchQoS.QoSClass, passed: DispatchQoS.QoSClass)] = []
    for priority in [TaskPriority.background, .utility, .medium, .high] {
      // Not the task's value: awaiting that raises the task's priority.
      seen.append(
        await withCheckedContinuation { seen in
          Task.detached(priority: priority) { @MainActor in
            let (priority, own) = (Task.currentPriority.rawValue, DispatchQoS.QoSClass.current)
            DispatchQueue(label: "probe.passed").async {
              seen.resume(returning: (priority, own, .current))
            }
          }
        })
    }
    print("priorities=\(seen.map { "\($0.priority)" }.joined(separator: " "))")
    print("classes=\(seen.map { "\($0.own)" }.joined(separator: " "))")
    print("passed=\(seen.map { "\($0.passed)" }.joined(separator: " "))")
    fflush(nil)
    exit(0)
  }

  @MainActor private static func check(_ isTaken: Bool) async {
    let onGlobal = await Task.detached(priority: .utility) {
      isOn(.global(qos: .utility))
    }.value
    try? await Task.sleep(for: .milliseconds(1))
    dispatchPrecondition(condition: .onQueue(.main))
    let afterSleep = await Task.detached(priority: .high) {
      try? await Task.sleep(nanoseconds: 1_000_000)
      return isOn(.global(qos: .userInitiated))
    }.value
    let onMain = await Task.detached { await mainActorIsOnMainQueue() }.value
    let item = await withCheckedContinuation { done in
      DispatchQueue.main.async { done.resume(returning: MainActor.assumeIsolated { true }) }
    }
    var sum = 0
    await withTaskGroup(of: Int.self) { group in
      for number in 1...1000 { group.addTask { number } }
      for await number in group { sum += number }
    }
    print("taken=\(isTaken)\nglobal=\(onGlobal)\nsleep=\(afterSleep)\nmain=\(onMain)")
    print("item=\(item)\nsum=\(sum)\nagain=\(takeOverConcurrency())")
    fflush(nil)
    exit(0)
  }
}

/// Stops the process unless the caller runs in an item of `queue`.
private func isOn(_ queue: DispatchQueue) -> Bool {
  dispatchPrecondition(condition: .onQueue(queue))
  return true
}

@MainActor private func mainActorIsOnMainQueue() -> Bool {
  dispatchPrecondition(condition: .onQueue(.main))
  return isMainThread()
}
