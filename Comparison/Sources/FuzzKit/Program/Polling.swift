// Purpose: how an item waits without a call into the engine, and for which milestone.

/// What a waiting thread does between two polls.
public struct Polling: Hashable, Sendable {
  public enum Manner: String, CaseIterable, Sendable {
    /// Sleeps for `amount` microseconds.
    case nap
    /// Calls `sched_yield`.
    case yield
    /// Does nothing.
    case spin
    /// Does `amount` rounds of arithmetic.
    case compute
  }

  public var manner: Manner
  public var amount: Int

  public init(_ manner: Manner, amount: Int = 0) {
    self.manner = manner
    self.amount = amount
  }

  /// Whether the thread uses all the CPU time that it gets. The engine cannot tell then that the
  /// item waits: it seems to compute.
  public var isHungry: Bool { manner != .nap }
}

/// The milestone for which a busy wait waits.
public enum Milestone: String, CaseIterable, Sendable { case begun, ended }
