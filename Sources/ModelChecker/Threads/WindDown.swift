// Room: ModelChecker/WindDown. How daemons that are left asleep come to their ends, after the verdict.
// A pool's worker waits for work that will never come, and holds on to the pool. It would leave at a deadline
// of its own, so here that deadline comes: the model need not lose memory, and its leaks show.

extension Execution {
  /// Lets daemons that sleep until a deadline come to their ends, one by one: what they hold is gone then,
  /// unless it leaks. What they do here takes effect at once; it is searched for no faults.
  func windDown() {
    isWindingDown = true
    for number in 1..<max(1, threadCount)
    where threads[number].state == .asleep && threads[number].deadline != nil {
      sleepsLeft = 64
      threads[number].state = .ready
      threads[number].memory.join(threads[0].memory)
      run(number, insteadOf: 0)
      running = 0
      threads[0].memory.join(threads[number].memory)
      threads[0].memory[0] &+= 1
    }
    isWindingDown = false
  }

  /// A sleep while daemons come to their ends: its deadline ends it. One without, or the last of too many,
  /// is never left, and the daemon's stack is lost.
  func sleepWindingDown(until deadline: UInt64?) -> Bool {
    sleepsLeft -= 1
    if deadline == nil || sleepsLeft == 0 {
      threads[running].state = .asleep
      run(0, insteadOf: running)
    }
    return false
  }
}
