// Room: Lanes/Tuning. The numbers that trade latency for work. Each says what it was measured against.

enum Tuning {
  /// How often a sync() looks at a busy lane before it sleeps. One look is a `pause`, some 25 ns.
  static var syncSpins: Int { Spin.times(scaled(40, inModels: 0)) }
  /// How often a thread whose turn must be granted looks for it before it sleeps.
  static var grantSpins: Int { Spin.times(scaled(80, inModels: 0)) }
  /// How many nodes an owner serves before it grants the first reader among them without having
  /// given the lane up. The wait of that reader stays within some microseconds; beyond that, a
  /// convoy costs less.
  static var maxServedBeforeGrant: Int { scaled(64, inModels: 2) }
  /// How often a woken sleeper may find the lane taken again before it gets in line.
  static var mostLosses: Int { scaled(3, inModels: 1) }
  /// How many nodes that are pending an owner asks how urgent they are. Some 100 ns, each time that the class of what is
  /// left changes, and at the end of each activation.
  static var mostPendingLooks: Int { scaled(64, inModels: 2) }
  /// How often a raiser looks for the name of a thread that has just entered.
  static var nameSpins: Int { scaled(32, inModels: 0) }
  /// How long a wait lasts before it is worth looking for a cycle of waits.
  static var deadlockSuspicionNanoseconds: UInt64 { 50_000_000 }
}
