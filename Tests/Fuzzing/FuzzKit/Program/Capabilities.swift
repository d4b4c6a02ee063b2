// Purpose: what an engine can do beyond what every engine can.

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

  public static let all: Capabilities = [
    .after, .asyncAndWait, .retargetsActive, .mainQueue, .blocksAnywhere,
  ]
}
