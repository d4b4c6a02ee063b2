// Purpose: makes a failing program small. It removes steps in ever smaller chunks (Zeller and
// Hildebrandt: Simplifying and isolating failure-inducing input, 2002), then makes the remaining
// steps plainer, until no change keeps the failure.
//
// A failure may depend on timing, so a trial is many runs; the caller provides it. A trial that
// misses the failure only costs a chance to shrink.

public struct Shrinker {
  /// Whether the program still fails in the same way.
  public typealias Trial = (Program) -> Bool

  private var best: Program
  private let capabilities: Capabilities
  private let fails: Trial
  private var trials = 0
  private let maxTrials: Int
  private var tried: Set<Program> = []

  /// Returns the smallest program found that still fails.
  public static func shrink(
    _ program: Program, capabilities: Capabilities = .all, maxTrials: Int = 600, while fails: Trial
  ) -> Program {
    withoutActuallyEscaping(fails) { fails in
      var shrinker = Shrinker(program, capabilities, maxTrials, fails)
      return shrinker.run()
    }
  }

  private init(
    _ program: Program, _ capabilities: Capabilities, _ maxTrials: Int, _ fails: @escaping Trial
  ) {
    best = program
    self.capabilities = capabilities
    self.maxTrials = maxTrials
    self.fails = fails
  }

  private mutating func run() -> Program {
    var before: Program
    repeat {
      before = best
      removeDrivers()
      removeSteps()
      for moves in Moves.all { simplify(by: moves) }
    } while best != before && trials < maxTrials
    return best.compacted()
  }

  /// Accepts the candidate if it is legal, new, and still fails.
  @discardableResult
  private mutating func accept(_ candidate: Program) -> Bool {
    guard trials < maxTrials, candidate != best, tried.insert(candidate).inserted else {
      return false
    }
    do { try candidate.check(against: capabilities) } catch { return false }
    trials += 1
    guard fails(candidate) else { return false }
    best = candidate
    return true
  }

  private mutating func removeDrivers() {
    for number in best.drivers.indices.reversed() where best.drivers.count > 1 {
      var candidate = best
      candidate.drivers.remove(at: number)
      accept(candidate)
    }
  }

  private mutating func removeSteps() {
    var size = max(1, best.allOps.count / 2)
    while true {
      var start = 0
      // An accepted removal moves other steps to `start`, so try there again.
      while start < best.allOps.count {
        let chunk = Set(best.allOps.dropFirst(start).prefix(size).map(\.id))
        if !accept(best.removing(chunk)) { start += size }
      }
      if size == 1 { return }
      size /= 2
    }
  }

  private mutating func simplify(by moves: (Program) -> [Program]) {
    var isBetter = true
    while isBetter && trials < maxTrials {
      isBetter = false
      for candidate in moves(best) where accept(candidate) {
        isBetter = true
        break
      }
    }
  }
}
