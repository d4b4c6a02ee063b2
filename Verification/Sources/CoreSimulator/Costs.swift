// Room: CoreSimulator/Costs. What each thing costs on the simulated machine, in nanoseconds. The
// defaults are what the engine's authors measured on two cores of a server.

public struct Costs: Sendable {
  /// An access to a line that the core has already, with the instructions around it.
  public var hit: UInt64 = 2
  /// The same for a read-modify-write.
  public var update: UInt64 = 5
  /// Moving a line that another core has written.
  public var transfer: UInt64 = 80
  /// How long a core keeps a line that it has fetched for writing, if others wait for it.
  public var kept: UInt64 = 40
  /// Reading a line that other cores only read.
  public var share: UInt64 = 40
  public var spinHint: UInt64 = 25
  public var clock: UInt64 = 25
  /// A system call that does nothing else.
  public var call: UInt64 = 250
  /// What a wake-up costs the thread that makes it, if a thread sleeps.
  public var wake: UInt64 = 1_200
  /// The time from a wake-up until the woken thread may run.
  public var latency: UInt64 = 4_000
  /// A change of the thread that a core runs.
  public var change: UInt64 = 1_500
  /// Making a thread.
  public var spawn: UInt64 = 15_000
  /// How long a thread runs while others wait for its core.
  public var slice: UInt64 = 3_000_000

  public init() {}
}
