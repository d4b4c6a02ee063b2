// Room: Pool/Starvation. When a class that waits while only higher ones run gets its own worker.
// A class starves while it has work and no worker, and higher classes use the CPUs. The monitor
// counts its looks, one a millisecond.
//   - After `rounds` each class has a turn, also where all that runs is blocked.
//   - From default up, an early turn after two looks: the class of what runs is often that of the
//     main thread, and no choice of the program.
//   - Utility has it, too, but pays for its time: a look that finds utility at work beside higher
//     classes delays the next early turn by ten looks. So short items of a log or an index start at
//     once, and long ones get about a tenth of a CPU.
//   - Background has none: such work can wait.
// Looks in which no work began and no CPU was used do not count for early turns: the higher classes
// are blocked, and wait as well.

struct Starvation {
  enum Verdict { case none, turn, earlyTurn }

  /// Looks in a row at which a class starves before its turn. 100 ms: a user does not notice it,
  /// and work below utility can wait that long.
  static var rounds: Int { 100 }
  static var earlyRounds: Int { 2 }
  /// Looks for each at which utility is at work.
  static var price: Int { 10 }

  private var starved = 0
  /// Looks in a row in which higher classes were not blocked, since the last early turn.
  private var unblocked = 0
  /// Looks to go before an early turn.
  private var debt = 0

  /// `isAtWork`: a worker of the class is, beside higher ones.
  mutating func look(
    at band: Band, isStarved: Bool, isAtWork: Bool, isBlocked: Bool
  ) -> Verdict {
    let isPaid = band < .default
    debt = isPaid && isAtWork ? min(Self.rounds, debt + Self.price) : max(0, debt - 1)
    guard isStarved else {
      (starved, unblocked) = (0, 0)
      return .none
    }
    starved += 1
    unblocked = isBlocked ? 0 : unblocked + 1
    if starved == Self.rounds {
      (starved, unblocked) = (0, 0)
      return .turn
    }
    guard band >= .utility, debt == 0, unblocked >= Self.earlyRounds else { return .none }
    unblocked = 0
    return .earlyTurn
  }
}
