// Takes over Swift Concurrency in a process of its own, because the hooks serve a whole process.
// Prints name=value lines for TakeOverTests.
import Glibc
import GrandCentral
import TestSupport

@main struct ConcurrencyProbe {
  static func main() {
    let isTaken = takeOverConcurrency()
    Task { await check(isTaken) }
    dispatchMain()
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
