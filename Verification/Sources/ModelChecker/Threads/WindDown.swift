// Room: ModelChecker/WindDown. Ends daemons that are still asleep after the verdict. A pool's
// worker waits for work that will never come, and retains the pool. It would leave at a deadline of
// its own, so that deadline expires here: the model loses no memory, and its leaks show.

extension Execution {
  /// Lets daemons that sleep until a deadline finish, one by one, which releases what they hold
  /// unless it leaks. Their operations take effect at once here and are not searched for faults.
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

  /// A sleep while daemons finish: its deadline ends it. A sleep without a deadline, or the last of
  /// too many, never ends, and the daemon's stack is lost.
  func sleepWindingDown(until deadline: UInt64?) -> Bool {
    sleepsLeft -= 1
    if deadline == nil || sleepsLeft == 0 {
      threads[running].state = .asleep
      run(0, insteadOf: running)
    }
    return false
  }
}
