// Purpose: what an engine can do, or promises, beyond what every engine does.

public struct Capabilities: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let after = Capabilities(rawValue: 1)
  public static let asyncAndWait = Capabilities(rawValue: 2)
  /// `setTarget` on a queue that is at work.
  public static let retargetsActive = Capabilities(rawValue: 4)
  /// Some thread of the process drains the main queue.
  public static let mainQueue = Capabilities(rawValue: 8)
  /// Items on concurrent queues may wait without holding up others for long.
  public static let blocksAnywhere = Capabilities(rawValue: 16)

  /// What is submitted to a suspended concurrent queue does not start, even if the queue was at
  /// work when it was suspended. For serial queues every engine promises that.
  public static let suspendsConcurrentAtOnce = Capabilities(rawValue: 32)

  /// What may run starts within a bounded time, whatever runs: also on concurrent and global queues
  /// beside items that poll, yield, spin or compute. For serial queues every engine promises that.
  public static let startsWhateverRuns = Capabilities(rawValue: 64)

  public static let all: Capabilities = [
    .after, .asyncAndWait, .retargetsActive, .mainQueue, .blocksAnywhere, .suspendsConcurrentAtOnce,
    .startsWhateverRuns,
  ]
}
