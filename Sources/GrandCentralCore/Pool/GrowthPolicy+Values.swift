// Room: Pool/GrowthPolicy+Values. What goes into the growth policy, and what comes out.

extension GrowthPolicy {
  /// How many threads there may be.
  struct Limits {
    var softThreads: Int
    var softThreadsForLanes: Int
    var mostThreads: Int
  }

  /// What a look saw of a worker that has an item, or has said that it looks for one.
  struct Sight {
    /// Whether the pool counts it as active.
    var isCounted: Bool
    /// Whether its item is in an activation of a lane.
    var isInLane: Bool
    /// Another number than in the last look: it has begun another item.
    var progress: UInt32
    /// CPU time since the last look at it; `nil`: the thread is gone.
    var used: UInt64?
    /// Time since the last look at it.
    var elapsed: UInt64
  }

  /// What waits, and for how long.
  struct Waiting {
    var hasWork: Bool
    /// How long the oldest lane has waited, at least; `nil`: none waits.
    var oldestLane: UInt64?
    /// How long items have waited of which none was taken; `nil`: none waits.
    var itemsUntaken: UInt64?
  }

  /// The pool's books.
  struct Books {
    var width: Int
    var threads: Int
    var idle: Int
    var active: Int
    /// Whether the system refused a thread lately.
    var isRefused = false
  }

  struct Decision: Equatable {
    /// How many workers may be active.
    var allowance: Int
    /// By how many more while they take lanes.
    var lanesBeyond: Int
    /// Whether a new lane gets an idle worker at once, however many are active.
    var lanesOvercommit = false
    /// How many workers to send for waiting lanes now, one each, and for waiting items; if there
    /// are threads.
    var lanesToSend = 0
    var itemsToSend = 0
    /// How many threads there may be; and if the one more is for a lane.
    var threads: Int
    var threadsForLanes: Int
    var report: Report?
  }

  enum Report: UInt8, CaseIterable { case limit, held, refused }
}
