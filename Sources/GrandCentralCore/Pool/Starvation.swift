// Room: Pool/Starvation. When a class that waits while only higher ones run gets its own worker.
// A class starves while it has work and no worker, and workers of higher classes run; its items and
// its lanes each by themselves. The monitor counts its looks, one a millisecond.
//   - Each class has a turn after `rounds` looks.
//   - From default up, an early turn after `earlyRounds`: the class of what runs is often that of
//     the main thread, and no choice of the program.
//   - Utility has early turns, too, but pays for them. Each delays the next one by `turnPrice`; and
//     so does CPU time that utility uses while higher classes take the CPUs, `timePrice` times. So
//     short items of a log or an index start soon and use a tenth of a CPU, or a fifth if they end
//     between two looks; after an item of ten milliseconds or more the class waits for its turn of
//     `rounds`.
//   - Background has no early turn: such work can wait.

struct Starvation {
  enum Verdict { case none, turn, earlyTurn }

  /// Looks before a turn. 100 ms: a user does not notice it, and work below utility can wait that
  /// long.
  static var rounds: Int { 100 }
  /// Looks before an early turn.
  static var earlyRounds: Int { 2 }
  /// The nanoseconds by which an early turn of utility delays the next one, and those for each
  /// nanosecond of CPU time.
  static var turnPrice: UInt64 { 4_000_000 }
  static var timePrice: UInt64 { 10 }
  /// The longest delay in nanoseconds.
  static var maxDebt: UInt64 { 100_000_000 }

  /// The nanoseconds of CPU time that the class has used since the last look.
  var used: UInt64 = 0
  /// Looks since the class began to starve, or had its last turn; and the same with early turns.
  private var looks = 0
  private var looksSinceAny = 0
  /// The nanoseconds before an early turn.
  private var debt: UInt64 = 0

  /// `isCharged`: higher classes are at work, and the CPUs are taken. `elapsed`: nanoseconds since
  /// the last look.
  mutating func look(
    at band: Band, isStarved: Bool, isCharged: Bool, elapsed: UInt64
  ) -> Verdict {
    debt -= min(debt, elapsed)
    if band < .default && isCharged { charge(Self.timePrice * used) }
    used = 0
    guard isStarved else {
      (looks, looksSinceAny) = (0, 0)
      return .none
    }
    (looks, looksSinceAny) = (looks + 1, looksSinceAny + 1)
    if looks == Self.rounds {
      (looks, looksSinceAny) = (0, 0)
      return .turn
    }
    let isEarly = band >= .utility && debt == 0 && looksSinceAny >= Self.earlyRounds
    return isEarly ? .earlyTurn : .none
  }

  /// Notes that a worker was sent for an early turn.
  mutating func hadEarlyTurn(of band: Band) {
    looksSinceAny = 0
    if band < .default { charge(Self.turnPrice) }
  }

  private mutating func charge(_ cost: UInt64) { debt = min(debt + cost, Self.maxDebt) }
}
