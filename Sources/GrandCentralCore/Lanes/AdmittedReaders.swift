// Room: Lanes/AdmittedReaders. The sync() readers that an owner has let in and has not granted yet.
// The owner grants them after it has given the lane up. A reader that is granted earlier often
// comes back before the owner leaves, finds the lane locked, and queues again, so that each reader
// waits for the owner at each turn.
//   waiting ─owner counts it as running─→ served ─owner gives the lane up─→ granted
// Served means that nothing stops the reader but the thread that owns the lane; the walk of
// Lanes/WaitGraph asks for it. Once the lane has been given up, the readers' places alone may keep
// it alive: granting touches the nodes and the waiting threads, never the lane.
import CLinux

struct AdmittedReaders {
  private var oldest: WorkNode?
  private var newest: WorkNode?
  /// How many nodes the owner has served since the list was last empty.
  private var served = 0

  /// Takes a waiter's node, which has been counted as running.
  mutating func add(_ node: WorkNode) {
    // relaxed: the exchange that gives the lane up releases it, before the walk can find the lane
    // without an owner.
    node.waiter.shared.isServed.store(true, ordering: .relaxed)
    node.next = nil
    if let newest { newest.next = node } else { oldest = node }
    newest = node
  }

  /// Grants early if the owner has served many nodes since. Threads that submit without a pause
  /// keep the owner in the lane; readers do not wait until they stop.
  @inline(__always)
  mutating func nodeWasServed(on thread: ThreadContext) {
    guard oldest != nil else { return }
    served += 1
    if served == Tuning.maxServedBeforeGrant { grantAll(on: thread) }
  }

  /// Grants all of them, in order, and becomes empty.
  @inline(__always)
  mutating func grantAll(on thread: ThreadContext) {
    if oldest != nil { grantEach(on: thread) }
  }

  @inline(never)
  private mutating func grantEach(on thread: ThreadContext) {
    while let node = oldest {
      oldest = node.next
      node.grantWaiter(on: thread)
    }
    newest = nil
    served = 0
  }
}

extension WorkNode {
  /// The thread that waits in this node.
  fileprivate var waiter: ThreadContext {
    context.unsafelyUnwrapped.assumingMemoryBound(to: gc_thread.self)
  }

  /// Ends the wait of the node's thread. Consumes the node.
  func grantWaiter(on thread: ThreadContext) {
    let waiter = waiter
    NodeCache.put(self, thread)
    Parker.grant(waiter)
  }
}
