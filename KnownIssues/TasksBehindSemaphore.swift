// Tasks that block hang the tasks that would release them
//
// As many tasks as CPUs wait for a semaphore, which is a mistake, but one that programs make while
// they move to Concurrency. On the library for Linux the task that signals then never begins.
import Dispatch
import Foundation

func body() {
  let count = 4 * ProcessInfo.processInfo.activeProcessorCount
  let isSignalled = DispatchSemaphore(value: 0)
  let group = DispatchGroup()
  for number in 1...count {
    group.enter()
    Task {
      awaiting("the task that signals, for which \(number) tasks may wait")
      block(isSignalled)
      group.leave()
    }
  }
  Task { for _ in 0..<count { isSignalled.signal() } }
  group.wait()
  decide(true, "the task that signals ran behind \(count) that blocked")
}

/// In a synchronous function the compiler does not object.
func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }

promise("a task begins though others block as many threads as there are CPUs", body)
