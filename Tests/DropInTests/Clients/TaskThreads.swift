// Tasks that block, and tasks on one CPU, in a program that was not recompiled. On the toolchain's
// library the first never ends.
import Dispatch
import Glibc
import Synchronization

/// Four tasks for each CPU wait for a semaphore that a later task signals.
func blocked() async {
  let count = 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
  let gate = DispatchSemaphore(value: 0)
  let waiting = (0..<count).map { _ in Task.detached { wait(gate) } }
  await Task.detached { for _ in 0..<count { gate.signal() } }.value
  for task in waiting { await task.value }
  print("blocked=\(count)")
}

func wait(_ gate: DispatchSemaphore) { gate.wait() }

/// The most tasks of one class that run at the same time on one CPU.
func crowd() async {
  let running = Atomic<Int>(0)
  let most = Atomic<Int>(0)
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<8 {
      group.addTask {
        for _ in 0..<50 {
          most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
          var sum = 0.0
          for number in 0..<20_000 { sum += Double(number).squareRoot() }
          if sum < 0 { print(sum) }
          running.subtract(1, ordering: .relaxed)
          await Task.yield()
        }
      }
    }
  }
  print("most=\(most.load(ordering: .relaxed))")
}

@main struct Program {
  static func main() async {
    if CommandLine.arguments.last == "crowd" { await crowd() } else { await blocked() }
  }
}
