// Room: Queues/RunLoopQueue. A serial queue for a run loop other than the main thread's: its work waits until a thread
// takes it, one item a turn.
// The queue is an ordinary serial lane. Only its root is another: it gives what comes to nobody, and keeps it for
// perform(). So a sync() enters the idle queue as it enters any other, on the thread that calls it.

package final class RunLoopQueue: DispatchQueue, @unchecked Sendable {
  private let turns: RunLoopTurns

  package init(label: String) {
    turns = RunLoopTurns(label: label)
    super.init(
      lane: label, isConcurrent: false, qos: .unspecified, isInactive: false, target: turns)
  }

  /// A turn is one item.
  override var drainQuota: Int { 1 }

  /// One node for a turn: a second one would be found in place of the next item.
  override var isSummonedOnce: Bool { true }

  /// Runs the next item, if there is one, on the calling thread. Returns whether another turn is asked for. The caller
  /// keeps the queue, which the item may be the last to know.
  package func perform() -> Bool {
    guard let node = turns.next() else { return false }
    node.run(on: currentThread())
    return turns.hasMore
  }
}

/// The root of one such queue.
private final class RunLoopTurns: DispatchQueue, @unchecked Sendable {
  private let lock = Lock()
  /// Guarded by the lock. At most one: the lane asks once for all its items.
  @Cell private var waiting: WorkNode?

  init(label: String) { super.init(root: label, kind: .root, qos: .unspecified) }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    lock.withLock {
      invariant(waiting == nil, "Queue '\(laneLabel)' asked twice for a turn.")
      waiting = node
    }
  }

  /// When the queue dies nobody performs any more.
  override var finalizerTarget: Lane { Runtime.shared.root(.unspecified) }

  func next() -> WorkNode? {
    lock.withLock { waiting.take() }
  }

  var hasMore: Bool { lock.withLock { waiting != nil } }

  /// In a child: what was to run is the parent's.
  override func forgetParent() { waiting = nil }
}
