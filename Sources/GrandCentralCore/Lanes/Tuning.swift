// Room: Lanes/Tuning. The constants that trade latency for CPU time.

enum Tuning {
  /// How often a sync() loads the word of a busy lane before it sleeps. One iteration is a `pause`,
  /// about 25 ns.
  static var syncSpins: Int { Spin.times(scaled(40, inModels: 0)) }
  /// How often a waiter in line checks for its grant before it sleeps.
  static var grantSpins: Int { Spin.times(scaled(80, inModels: 0)) }
  /// How many nodes an owner serves, up to a group of items more, before it grants the first reader
  /// among them without giving the lane up. The wait of that reader stays within some microseconds;
  /// above that, a convoy costs less.
  static var maxServedBeforeGrant: Int { scaled(64, inModels: 2) }
  /// A lane with more running items than this has some in an injector: more than a worker has room
  /// for. What it sends then goes behind them.
  static var manyRunning: Int { LocalQueue.capacity }
  /// How many queued items an owner counts as running in one exchange.
  static var maxCountedAtOnce: Int { scaled(16, inModels: 2) }
  /// How often a woken sleeper may find the lane taken again before it gets in line.
  static var maxLosses: Int { scaled(3, inModels: 1) }
  /// How many pending nodes an owner reads for their urgency. About 100 ns each time that the class
  /// of the remaining work changes, and at the end of each activation.
  static var maxPendingLooks: Int { scaled(64, inModels: 2) }
  /// How many items an activation runs at most if the lane's target is a lane.
  static var quotaOnLane: Int { 64 }
  /// How often a raiser checks for the owner word of a thread that has just entered.
  static var nameSpins: Int { scaled(32, inModels: 0) }
  /// How long a thread waits before it registers and searches for a deadlock cycle.
  static var deadlockSuspicionNanoseconds: UInt64 { 50_000_000 }
  /// How long a registered thread waits before it searches again.
  static var firstSearchPauseNanoseconds: UInt64 { 1_000_000_000 }
  /// The factor by which each later pause is longer. A model that misses a cycle searches until it
  /// has taken too many steps, without an overflow of its clock.
  static var searchPauseGrowth: UInt64 { UInt64(scaled(2, inModels: 1)) }
}
