// Purpose: how an item waits without a call into the engine, and for what.

/// What a waiting thread does between two looks.
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

  /// Whether the thread uses all the CPU time that it gets. The engine then takes the item for one
  /// that computes, and cannot tell that it waits.
  public var isHungry: Bool { manner != .nap }
}

/// What a busy wait waits for.
public enum Milestone: String, CaseIterable, Sendable { case begun, ended }
