// Purpose: abilities and promises of an engine beyond those of every engine.

public struct Capabilities: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let after = Capabilities(rawValue: 1)
  public static let asyncAndWait = Capabilities(rawValue: 2)
  /// `setTarget` works on an active queue.
  public static let retargetsActive = Capabilities(rawValue: 4)
  /// A thread of the process drains the main queue.
  public static let mainQueue = Capabilities(rawValue: 8)
  /// Items on concurrent queues may wait without delaying others for long.
  public static let blocksAnywhere = Capabilities(rawValue: 16)

  /// An item submitted to a suspended concurrent queue does not start, even if the queue was
  /// running items when it was suspended. For serial queues every engine promises that.
  public static let suspendsConcurrentAtOnce = Capabilities(rawValue: 32)

  /// Runnable items start within a bounded time, whatever else runs: also on concurrent and global
  /// queues beside items that poll, yield, spin or compute. For serial queues every engine promises
  /// that.
  public static let startsWhateverRuns = Capabilities(rawValue: 64)

  /// A queue is a task executor; a serial one is an actor's executor too.
  public static let tasks = Capabilities(rawValue: 128)

  public static let all: Capabilities = [
    .after, .asyncAndWait, .retargetsActive, .mainQueue, .blocksAnywhere, .suspendsConcurrentAtOnce,
    .startsWhateverRuns, .tasks,
  ]
}
