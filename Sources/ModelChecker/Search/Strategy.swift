// Room: ModelChecker/Strategy. Which schedules are tried, and what may go wrong in them.

/// How the schedules of a model are chosen.
public enum Strategy: Sendable, Equatable {
  /// Every schedule that differs in more than the order of steps that commute.
  case exhaustive
  /// Those of them in which at most so many threads are interrupted while they could have gone on.
  case bounded(preemptions: Int)
  /// Every schedule, one by one: to check the checker.
  case naive
  /// So many schedules with a coin at each step.
  case random(executions: Int, seed: UInt64)
  /// So many schedules by priorities that change at `depth` - 1 places. Burckhardt, Kothari, Musuvathi,
  /// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (2010).
  case priorities(depth: Int, executions: Int, seed: UInt64)
}

public struct Options: Sendable {
  public var strategy = Strategy.exhaustive
  /// Loads may return older values where their orderings allow it. Otherwise each load returns the latest,
  /// and orderings count only for races on plain memory.
  public var isWeak = false
  /// For each thread: sleeps with a deadline that may end before anybody wakes it.
  public var timeOuts = 0
  /// Whether a deadline ends a sleep when nobody can move otherwise. Without it that is a deadlock, so that a
  /// lost wake-up cannot hide behind a deadline.
  public var timePasses = true
  /// For each thread: sleeps that may end for no reason.
  public var spuriousWakes = 0
  /// For each thread: weak exchanges that may fail for no reason.
  public var spuriousFailures = 0
  /// For each thread: system calls that may be refused where the model asks `mayRefuse()`.
  public var refusals = 0
  /// Whether everything that a model made must be gone at its end.
  public var findsLeaks = true
  /// An execution of more steps is taken to be without an end.
  public var mostSteps = 2_000
  /// Gives up after so many executions; the outcome is then not complete.
  public var mostExecutions = Int.max
  public var mostSeconds = Double.infinity
  /// Whether an execution that fails with this message is as it should be: a fault that the model provokes.
  public var tolerates: @Sendable (String) -> Bool = { _ in false }
  /// Changes to the program, for checking that they are found.
  public var mutations: [Mutation] = []
  /// Is told how each execution ended. The search then goes on after failures.
  package var whenEnded: (@Sendable (Ending) -> Void)?

  public init() {}
}

/// How one execution ended.
package struct Ending: Sendable {
  package let failure: String?
  package let preemptions: Int
}
