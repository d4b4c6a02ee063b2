// Room: ModelChecker/Strategy. The schedules to try, and the failures that may occur in them.

/// How the schedules of a model are selected.
public enum Strategy: Sendable, Equatable {
  /// Every schedule, except those that differ only in the order of steps that commute.
  case exhaustive
  /// Those of them with at most `preemptions` switches away from a thread that could continue.
  case bounded(preemptions: Int)
  /// Every schedule without reduction: to check the checker.
  case naive
  /// `executions` schedules with a random choice at each step.
  case random(executions: Int, seed: UInt64)
  /// `executions` schedules by priorities that change at `depth` - 1 points. Burckhardt, Kothari,
  /// Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs"
  /// (2010).
  case priorities(depth: Int, executions: Int, seed: UInt64)
}

/// The strategy of a check, and its limits.
public struct Options: Sendable {
  public var strategy = Strategy.exhaustive
  /// Loads may return older values where their orderings allow it. Otherwise each load returns the
  /// latest, and orderings matter only for races on plain memory.
  public var isWeak = false
  /// Per thread: sleeps with a deadline that may end before any wake-up.
  public var timeOuts = 0
  /// Whether a deadline ends a sleep when no thread can move. Otherwise that is a deadlock, so that
  /// a deadline cannot hide a lost wake-up.
  public var timePasses = true
  /// Per thread: sleeps that may end spuriously.
  public var spuriousWakes = 0
  /// Per thread: weak exchanges that may fail spuriously.
  public var spuriousFailures = 0
  /// Per thread: system calls that may be refused where the model asks `mayRefuse()`.
  public var refusals = 0
  /// Whether everything that a model created must have ended at its end.
  public var findsLeaks = true
  /// An execution of more steps is assumed to be endless.
  public var maxSteps = 2_000
  /// Stops after this many executions; the outcome is then incomplete.
  public var maxExecutions = Int.max
  /// Stops after this many seconds; the outcome is then incomplete.
  public var maxSeconds = Double.infinity
  /// Whether a failure with this message is expected: a fault that the model provokes.
  public var tolerates: @Sendable (String) -> Bool = { _ in false }
  /// Changes to the program, to check that they are found.
  public var mutations: [Mutation] = []
  /// Called with the end of each execution. If set, the search continues after failures.
  package var onEnd: (@Sendable (Ending) -> Void)?

  public init() {}
}

/// The end of an execution.
package struct Ending: Sendable {
  package let failure: String?
  package let preemptions: Int
}
