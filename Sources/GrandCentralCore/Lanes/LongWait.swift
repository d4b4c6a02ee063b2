// Room: Lanes/LongWait. A thread that has waited for a lane for a long time, and when it searches
// for a deadlock cycle.
//   waits 50 ms ─→ registers and searches ─→ waits 1 s ─→ searches ─→ 2 s ─→ searches ─→ 4 s …
// The first 50 ms cost nothing: most waits end in them. Then the thread registers, so that others
// find it, and searches (WaitGraph). Registration and search hold the hierarchy lock, so the last
// thread of a cycle to register finds a cycle that exists by then, unless a lane is between two
// exchanges at that moment: a later search finds it.
// A cycle may also close after its last thread has registered. These events make a lane wait for
// threads that it did not wait for before:
//   a resume()            lets a barrier come first, which then waits for the readers inside
//   a resume()            sends the lane to its target, which a thread of the cycle holds
//   a holder that leaves  makes room for the items before a barrier, which then comes first
// The threads that cause them neither wait nor search, and a search there would slow down every
// resume() and every holder. So each registered thread repeats its own search.
// The pauses double without a limit. A process that otherwise idles is therefore not woken
// periodically: a thread that waits for a day wakes 17 times. A thread whose cycle closes after it
// has waited for `t` searches again before it has waited for `2 t + 1 s`. So the thread of the
// cycle that registered last bounds when the cycle is found.
// Rejected: searches by the monitor of the pool. It would need a timer for waits of threads that
// belong to no pool.

struct LongWait {
  let thread: ThreadContext
  let lane: Lane
  /// The thread's task of Swift Concurrency, in words, if it has a name or an actor.
  let task: String?
  private let registered = Clock.monotonicNanoseconds()

  /// For how long the thread has waited, in nanoseconds.
  var age: UInt64 {
    Clock.monotonicNanoseconds() &- registered &+ Tuning.deadlockSuspicionNanoseconds
  }

  /// Registers the calling thread, searches, and sleeps until `sleep` returns true: the wait is
  /// over. `sleep` returns false at its deadline, at which the thread searches again. Stops the
  /// process if a search finds a deadlock cycle.
  static func run(_ thread: ThreadContext, for lane: Lane, _ sleep: (Deadline) -> Bool) {
    let hierarchy = Lane.hierarchyLock
    let wait = LongWait(thread: thread, lane: lane, task: TaskNames.current())
    wait.search { hierarchy.waiters.append(wait) }
    var pause = Tuning.firstSearchPauseNanoseconds
    while !sleep(.after(nanoseconds: pause)) {
      wait.search()
      // Never overflows: the sum of all pauses has passed.
      pause *= Tuning.searchPauseGrowth
    }
    hierarchy.lock.withLock { hierarchy.waiters.removeAll { $0.thread == thread } }
  }

  /// Searches, after `prepare`. Stops the process if it finds a deadlock cycle.
  private func search(after prepare: () -> Void = {}) {
    withAmpleStack {
      let deadlock = Lane.hierarchyLock.lock.withLock {
        prepare()
        return WaitGraph.search(from: self)
      }
      if let deadlock { clientFault(deadlock) }
    }
  }

  /// Whether `thread` is registered, and so has searched at least once.
  static func isRegistered(_ thread: ThreadContext) -> Bool {
    let hierarchy = Lane.hierarchyLock
    return hierarchy.lock.withLock { hierarchy.waiters.contains { $0.thread == thread } }
  }
}

extension Deadline {
  /// The time in `nanoseconds` from now.
  static func after(nanoseconds: UInt64) -> Deadline {
    .monotonic(nanoseconds: Clock.monotonicNanoseconds() + nanoseconds)
  }
}
