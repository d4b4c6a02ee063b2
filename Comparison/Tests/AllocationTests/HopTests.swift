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
  func add() { count += 1 }
}

private actor OnWorkloop {
  private nonisolated let loop = DispatchWorkloop(label: "allocations.loop")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var count = 0
  func add() { count += 1 }
}

/// Calls of an actor are two hops each: onto its queue, and back onto the task's.
private let kinds: [String: (hops: Int, run: @Sendable (Int) async -> Void)] = {
  let (serial, loop) = (OnSerialQueue(), OnWorkloop())
  return [
    "an actor on a serial queue": (2, { for _ in 0..<$0 { await serial.add() } }),
    "an actor on a workloop": (2, { for _ in 0..<$0 { await loop.add() } }),
    "a concurrent queue": (1, { for _ in 0..<$0 { await Task.yield() } }),
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
      for (name, kind) in kinds {
        let count = await allocations(rounds, kind.run)
        // The engine's threads may come and go meanwhile, and read files of /proc. An allocation
        // for each hop would be 20,000 or 40,000.
        print("\(name): \(count) allocations in \(rounds * kind.hops) hops")
        if count > rounds / 100 { isRight = false }
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
