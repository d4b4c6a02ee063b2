// What is measured: the memory of cancelled sleeps, tasks that block, tasks that run at the same
// time.
import CFaults
import Glibc
import GrandCentral
import TestSupport

/// The heap before and after a million sleeps that were cancelled, while they slept and before.
@Sendable func cancelledSleeps() async throws {
  let count = size(0, otherwise: 1_000_000)
  func sleeps(_ count: Int) async {
    for _ in 0..<max(1, count / 1_000) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<min(count, 1_000) {
          group.addTask { try? await Task.sleep(for: .seconds(3_600), clock: .dispatchUptime) }
        }
        await Task.yield()
        group.cancelAll()
      }
    }
  }
  // As many at a time as later: the caches of threads and of the allocator are full.
  await sleeps(20_000)
  let (heap, resident) = (Int(faults_heap_bytes()), residentBytes())
  await sleeps(count)
  _ = eventually(seconds: 10) { Int(faults_heap_bytes()) * 10 <= heap * 11 }
  say("sleeps", count)
  say("heapBefore", heap)
  say("heapAfter", Int(faults_heap_bytes()))
  say("residentBefore", resident)
  say("residentAfter", residentBytes())
}

/// The resident memory of this process: proc_pid_statm(5).
private func residentBytes() -> Int {
  let words = (contents(of: "/proc/self/statm") ?? "").split(separator: " ")
  return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
}

/// Four tasks for each CPU wait for a semaphore that a later task signals.
@Sendable func blocked() async throws {
  let pool = DispatchQueue(label: "probe.blocked", attributes: .concurrent)
  let count = 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
  let (gate, inside) = (DispatchSemaphore(value: 0), Counter())
  @Sendable func wait() {
    inside.add()
    gate.wait()
  }
  let waiting = (0..<count).map { _ in Task(executorPreference: pool) { wait() } }
  let submitted = DispatchTime.now()
  let started = await Task(executorPreference: pool) {
    let started = DispatchTime.now()
    for _ in 0..<count { gate.signal() }
    return started
  }.value
  for task in waiting { await task.value }
  say("blocked", inside.value == count)
  // Reported, and not judged: other programs delay it.
  say("microseconds", (started.uptimeNanoseconds - submitted.uptimeNanoseconds) / 1_000)
}

/// The most tasks of one class that run at the same time.
@Sendable func crowd() async throws {
  let running = Counter()
  let pool = DispatchQueue.global()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<8 {
      group.addTask(executorPreference: pool) {
        for _ in 0..<50 {
          running.add()
          var sum = 0.0
          for number in 0..<5_000 { sum += Double(number).squareRoot() }
          if sum < 0 { print(sum) }
          running.add(-1)
          await Task.yield()
        }
      }
    }
  }
  say("most", running.peak)
}
