/// What a person may want to act on.
package struct RecordedFinding: Sendable {
  package enum Kind: String, Sendable {
    case lockOrder = "lock-order"
    case explosion = "thread-explosion"
    case hotQueue = "hot-queue"
    case inversion = "inversion"
    case longItem = "long-item"
    case lateTimer = "late-timer"
    case starvedSource = "starved-source"
  }
  package var kind: Kind
  /// The queue that it is about, as an index into `Recording.queues`, and its label.
  package var queueIndex: Int?
  package var queue: String
  package var headline: String
  package var details: [String]
  /// An index into `Recording.items`: an item that shows it.
  package var item: Int?
}
