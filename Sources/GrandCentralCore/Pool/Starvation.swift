// Room: Pool/Starvation. When a class that waits while only higher ones run gets its own worker.
// A class starves while it has work and no worker, and workers of higher classes run; its items and
// its lanes each by themselves. The monitor counts its looks, one a millisecond.
//   - Each class has a turn after `rounds` looks.
//   - From default up, an early turn after `earlyRounds`: the class of what runs is often that of
//     the main thread, and no choice of the program.
//   - Utility has early turns, too, but pays for them: each delays the next one, and so does each
//     look that finds utility at work while the CPUs are taken. So short items of a log or an index
//     start soon and use a tenth of a CPU, or a fifth if they are too short to be seen; after an
//     item of ten milliseconds or more the class waits for its turn of `rounds`.
//   - Background has no early turn: such work can wait.

struct Starvation {
  enum Verdict { case none, turn, earlyTurn }

  /// Looks before a turn. 100 ms: a user does not notice it, and work below utility can wait that
  /// long.
  static var rounds: Int { 100 }
  /// Looks before an early turn.
  static var earlyRounds: Int { 2 }
  /// By how many looks an early turn of utility delays the next one, and so does a look at which
  /// utility is at work.
  static var turnPrice: Int { 4 }
  static var lookPrice: Int { 10 }

  /// Looks since the class began to starve, or had its last turn; and the same with early turns.
  private var looks = 0
  private var looksSinceAny = 0
  /// Looks to go before an early turn.
  private var debt = 0

  /// `isCharged`: a worker of the class is at work beside higher ones, and the CPUs are taken.
  mutating func look(at band: Band, isStarved: Bool, isCharged: Bool) -> Verdict {
    let pays = band < .default && isCharged
    debt = pays ? min(Self.rounds, debt + Self.lookPrice) : max(0, debt - 1)
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
    if band < .default { debt += Self.turnPrice }
  }
}
