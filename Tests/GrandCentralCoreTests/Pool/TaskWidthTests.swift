import GrandCentral
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Tasks that prefer a queue") struct TaskWidthTests {
  /// A machine of eight CPUs whose control group has this quota: cgroups(7), cpu.max.
  private func width(quota: String) -> Int {
    let files = [
      "/proc/self/cgroup": "0::/box\n",
      "/proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
      "/sys/fs/cgroup/box/cpu.max": quota,
    ]
    return CPULimits(read: { files[$0] }, affinity: { 8 }).width()
  }

  /// Makes an engine without a monitor, whose width is exact, and a queue of it.
  private func makeQueue(width: @escaping @Sendable () -> Int) -> (Pool, DispatchQueue) {
    _ = Runtime.shared
    let configuration = Pool.Configuration(
      width: width(), readWidth: width, softThreads: 8, maxThreads: 8)
    let pool = kept(Pool(configuration, monitor: Monitor(mode: .watching)))
    let runtime = kept(Runtime(pool: pool))
    let target = runtime.root(.default)
    return (pool, DispatchQueue(label: "test.tasks", attributes: .concurrent, target: target))
  }

  /// Returns the most tasks that ran at the same time.
  private func crowd(on queue: DispatchQueue) async -> Int {
    let crowd = Crowd()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask(executorPreference: queue) {
          for _ in 0..<50 {
            crowd.compute()
            await Task.yield()
          }
        }
      }
    }
    return crowd.most.load(ordering: .relaxed)
  }

  @Test func `run one at a time with a quota of one CPU, and together when it is lifted`() async {
    let quota = Box("100000 100000")
    let (pool, queue) = makeQueue { width(quota: quota.value) }
    #expect(await crowd(on: queue) == 1)
    quota.value = "800000 100000"
    // A worker that goes idle may still write the width that it read before. Then the next turn
    // reads again.
    var most = 1
    for _ in 0..<1000 where most == 1 {
      pool.lastWidthRead.store(0, ordering: .relaxed)
      pool.refreshWidth()
      most = await crowd(on: queue)
    }
    #expect(most > 1)
  }

  @Test func `start beside four times as many as the width that wait for them`() async {
    let width = Runtime.shared.pool.width.load(ordering: .relaxed)
    let gate = DispatchSemaphore(value: 0)
    let queue = DispatchQueue(label: "test.waiting", attributes: .concurrent)
    let haveBegun = TestSupport.Latch(4 * width)
    let waiting = (0..<4 * width).map { _ in
      Task.detached(executorPreference: queue) {
        haveBegun.open()
        wait(at: gate)
      }
    }
    // The one that signals is submitted when the others hold their threads.
    #expect(haveBegun.wait())
    await Task.detached(executorPreference: queue) {
      for _ in 0..<4 * width { gate.signal() }
    }.value
    for task in waiting { await task.value }
  }
}

/// Counts the threads that compute.
private final class Crowd: Sendable {
  let most = Atomic<Int>(0)
  private let running = Atomic<Int>(0)

  func compute() {
    most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    for _ in 0..<1000 { spinHint() }
    running.subtract(1, ordering: .relaxed)
  }
}

private func wait(at gate: DispatchSemaphore) { gate.wait() }
