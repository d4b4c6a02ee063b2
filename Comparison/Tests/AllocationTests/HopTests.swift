// Allocations of the hops of tasks onto queues. Each test runs in a process of its own, where no
// other test allocates.
import CAllocations
import Glibc
import GrandCentral
import TestSupport
import Testing

private actor OnSerialQueue {
  private let queue = DispatchSerialQueue(label: "allocations.serial")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  private var count = 0
  func add() {
    // The hop has happened: the compiler removes one that nothing depends on.
    dispatchPrecondition(condition: .onQueue(queue))
    count += 1
  }
}

private actor OnWorkloop {
  private nonisolated let loop = DispatchWorkloop(label: "allocations.loop")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var count = 0
  func add() {
    dispatchPrecondition(condition: .onQueue(loop))
    count += 1
  }
}

/// Each call of an actor is two hops: onto its queue, and back onto the concurrent queue that its
/// task prefers. Not `Task.yield()`, for which the runtime itself allocates a job each time.
private let calls: [String: @Sendable (Int) async -> Void] = {
  let (serial, loop) = (OnSerialQueue(), OnWorkloop())
  return [
    "a serial queue": { for _ in 0..<$0 { await serial.add() } },
    "a workloop": { for _ in 0..<$0 { await loop.add() } },
  ]
}()

/// The allocations of `rounds` rounds, after others that have made the threads and the nodes.
private func allocations(_ rounds: Int, _ run: @escaping @Sendable (Int) async -> Void) async -> Int
{
  let pool = DispatchQueue(label: "allocations.pool", attributes: .concurrent)
  return await Task(executorPreference: pool) {
    await run(rounds)
    let before = allocations_count()
    await run(rounds)
    return Int(allocations_count() - before)
  }.value
}

@Suite("A hop of a task onto a queue", .timeLimit(.minutes(30))) struct HopTests {
  @Test(.enabled(if: allocations_are_counted(), "a sanitizer has its own allocator"))
  func `allocates nothing`() async {
    _ = await #expect(processExitsWith: .success) {
      let rounds = 20_000
      var isRight = true
      for (name, call) in calls {
        let count = await allocations(rounds, call)
        // Threads may come and go meanwhile, and the engine's monitor, which reads files of /proc,
        // allocates for each unit of time, however few hops happen in it. An allocation for each
        // hop would be 40,000, and one for each call 20,000.
        if count > rounds / 8 {
          print("\(count) allocations in \(2 * rounds) hops onto and from \(name)")
          isRight = false
        }
      }
      exit(isRight ? 0 : 1)
    }
  }

  /// Shows that the count sees what allocates: a task made for each round.
  @Test(.enabled(if: allocations_are_counted(), "a sanitizer has its own allocator"))
  func `is counted as an allocation where it makes a task`() async {
    _ = await #expect(processExitsWith: .success) {
      let rounds = 1_000
      let count = await allocations(rounds) { for _ in 0..<$0 { await Task {}.value } }
      exit(count >= rounds ? 0 : 1)
    }
  }
}
