// Room: Pool/GrowthPolicy+Values. Input and output of the growth policy, in nanoseconds.

extension GrowthPolicy {
  /// The limits on threads.
  struct Limits {
    var softThreads: Int
    var softThreadsForLanes: Int
    var maxThreads: Int
  }

  /// What a look saw of a worker that has an item or searches for one.
  struct Sight {
    /// Whether the pool counts it as active.
    var isCounted: Bool
    /// Whether its item is in an activation of a lane.
    var isInLane: Bool
    /// A counter: if it differs from the last look, the worker has begun another item.
    var progress: UInt32
    /// CPU time since the last look at the worker; `nil`: the thread has ended.
    var used: UInt64?
    /// Elapsed time since the last look at the worker.
    var elapsed: UInt64
  }

  /// What the kernel reports of a worker's thread.
  enum ThreadState {
    case asleep
    /// It waits for the lock of the process's mappings, which other threads of the process hold:
    /// mmap(2), munmap(2).
    case inMappings
    /// It runs, or waits for a CPU. `sleeps`: how often it has slept so far.
    case runnable(sleeps: UInt64)
  }

  /// What waits, and how long.
  struct Waiting {
    var hasWork: Bool
    /// How long the oldest lane has waited, by WaitClock; `nil`: none waits.
    var oldestLane: UInt64?
    /// The same for lanes of class default or above.
    var oldestUrgentLane: UInt64?
    /// How long items have waited while none was taken; `nil`: none waits.
    var itemsUntaken: UInt64?
  }

  /// The pool's counts.
  struct Books {
    var width: Int
    var threads: Int
    var idle: Int
    var active: Int
    /// The CPU time that all threads of the process, the program's own included, use in a second in
    /// which as many workers as the width are busy; `nil`: not known.
    var usedPerSecond: UInt64?
    /// Whether a quota limits the CPU time of the process.
    var isQuota = false
    /// Whether the system refused the last thread that was requested.
    var isRefused = false
  }

  struct Decision: Equatable {
    /// Active workers beyond the width.
    var beyondWidth: Int
    /// Further active workers while they take lanes.
    var lanesBeyond: Int
    /// Whether a new lane wakes an idle worker at once, however many are active.
    var lanesOvercommit = false
    /// How many workers lanes of class default or above may have beyond the allowance for a while.
    var lanesBehindOthers = 0
    /// Whether as many lanes as the width have long items, overdue ones included.
    var areLanesLong = false
    /// Whether the active workers use the CPUs, so that more of them would only share these.
    var isScarce = false
    /// The number of workers to send now, one for each waiting lane or item, if there are threads.
    var lanesToSend = 0
    var itemsToSend = 0
    /// The maximum number of threads, and the maximum if the next thread is for a lane.
    var threads: Int
    var threadsForLanes: Int
    var report: Report?
  }

  enum Report: UInt8, CaseIterable { case limit, held, refused }
}
