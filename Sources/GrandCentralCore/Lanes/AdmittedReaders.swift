// Room: Lanes/AdmittedReaders. The sync() readers that an owner has admitted and not yet granted.
// The owner grants them after it has given the lane up. A reader that is granted earlier often
// returns before the owner leaves, finds the lane locked, and queues again; then each reader waits
// for the owner each time.
//   waiting ─owner counts it as running─→ served ─owner gives the lane up─→ granted
// A served reader waits only for the thread that owns the lane; the search in Lanes/WaitGraph reads
// that. After the lane has been given up, only the readers' permits may keep it alive, so granting
// touches the nodes and the waiting threads, never the lane.
import CGrandCentralLinux

struct AdmittedReaders {
  private var oldest: WorkNode?
  private var newest: WorkNode?
  /// How many nodes the owner has served since the list was last empty.
  private var served = 0

  /// Adds a waiter's node, which has been counted as running.
  mutating func add(_ node: WorkNode) {
    // relaxed: the exchange that gives the lane up releases this store, before the search can find
    // the lane without an owner.
    node.waiter.shared.isServed.store(true, ordering: .relaxed)
    node.next = nil
    if let newest { newest.next = node } else { oldest = node }
    newest = node
  }

  /// Grants early if the owner has served many nodes since the first reader. Threads that submit
  /// without a pause keep the owner in the lane, and readers must not wait until they stop.
  @inline(__always)
  mutating func nodesWereServed(_ count: Int, on thread: ThreadContext) {
    guard oldest != nil else { return }
    served += count
    if served >= Tuning.maxServedBeforeGrant { grantAll(on: thread) }
  }

  /// Grants all readers, in order, and empties the list.
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
