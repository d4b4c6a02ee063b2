// Room: Queues/HostedQueue. A serial queue whose items another scheduler runs: the host.
// It is bound as the main queue is, but not to one thread: the lane announces itself to the host,
// and the host calls perform() once for each announcement, on any thread. Closures of sync() are
// sent there too, so whatever the host excludes stays excluded.
//   idle ─push→ announced ─perform()→ draining ─→ idle, or announced again (the rest of the list)
// Invariant: perform() runs as often as `onAnnounce` is called, and never drains twice at once. An
// announced lane is locked until the call drains it, so no other announcement is made meanwhile.
import CGrandCentralLinux

package final class HostedQueue: DispatchQueue, @unchecked Sendable {
  private let onAnnounce: @Sendable (HostedQueue) -> Void
  private let excludes: @Sendable () -> Bool
  /// The thread inside perform(), for the search for deadlocks; 0: none.
  private let performer = Atomic<UInt>(0)

  /// `onAnnounce` makes the host call perform() once. `excludes`: whether the calling thread runs
  /// work of the host that perform() waits for, because the host runs one item at a time.
  package init(
    label: String, onAnnounce: @escaping @Sendable (HostedQueue) -> Void,
    excludes: @escaping @Sendable () -> Bool
  ) {
    self.onAnnounce = onAnnounce
    self.excludes = excludes
    super.init(root: label, kind: .bound, qos: .unspecified)
  }

  override func wakeBoundThread() { onAnnounce(self) }

  override var kindOnBoard: Kind { .serial }

  override var boundThread: ThreadContext? {
    // relaxed: an identity that is compared only; a stale one makes no cycle, because the thread
    // must also wait, registered, inside perform().
    ThreadContext(bitPattern: performer.load(ordering: .relaxed))
  }

  override func isBoundTo(_ thread: ThreadContext) -> Bool {
    // relaxed: only the calling thread writes its own value.
    performer.load(ordering: .relaxed) == UInt(bitPattern: thread) || excludes()
  }

  /// Runs what is queued now, on the calling thread. Only for the host, once for each announcement.
  /// The caller keeps the queue alive.
  package func perform() {
    drainForOwner(on: currentThread(), namedIn: performer)
  }
}
