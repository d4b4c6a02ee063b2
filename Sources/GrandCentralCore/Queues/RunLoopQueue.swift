// Room: Queues/RunLoopQueue. A serial queue for a run loop off the main thread: its work waits
// until a thread takes it, one item a turn.
// The queue is an ordinary serial lane; only its root differs: it keeps each node for perform() and
// gives none to the pool. So a sync() enters the idle queue as any other, on the calling thread.

package final class RunLoopQueue: DispatchQueue, @unchecked Sendable {
  private let turns: RunLoopTurns

  package init(label: String) {
    turns = RunLoopTurns(label: label)
    super.init(
      lane: label, isConcurrent: false, qos: .unspecified, isInactive: false, target: turns)
  }

  /// One item a turn.
  override var drainQuota: Int { 1 }

  /// One node a turn: perform() would take a second node in place of the next item.
  override var isRequestedOnce: Bool { true }

  /// Runs the next item, if there is one, on the calling thread. Returns whether another turn is
  /// requested. The caller keeps the queue alive: the item may hold the last other reference.
  package func perform() -> Bool {
    guard let node = turns.next() else { return false }
    node.run(on: currentThread())
    return turns.hasMore
  }
}

/// The root of one such queue.
final class RunLoopTurns: DispatchQueue, @unchecked Sendable {
  private let lock = Lock()
  /// Guarded by the lock. At most one: the lane requests one turn for all its items.
  @Cell var waiting: WorkNode?

  init(label: String) { super.init(root: label, kind: .root, qos: .unspecified) }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    lock.withLock {
      invariant(waiting == nil, "Queue '\(laneLabel)' asked twice for a turn.")
      waiting = node
    }
  }

  /// The finalizer runs on the pool: after the queue is destroyed, no run loop performs it.
  override var finalizerTarget: Lane { Runtime.shared.root(.unspecified) }

  func next() -> WorkNode? {
    lock.withLock { waiting.take() }
  }

  var hasMore: Bool { lock.withLock { waiting != nil } }
}
