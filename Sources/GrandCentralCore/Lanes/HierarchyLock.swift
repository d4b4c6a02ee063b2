// Room: Lanes/HierarchyLock. The lock that guards every change of a target, and the long waits.
// Invariant: a lane's `target` is written only under this lock, on a lane that is inactive or held
// alone. So
//   under the lock   no target changes: a walk from target to target sees one hierarchy. Of two
//                    changes that together close a loop, the second finds it
//   in a holder      the lane's target, and those above it, are read without the lock
// The lock also guards the list of threads that have waited for long. A registered thread takes the
// lock before it continues. So under the lock its frames stay valid, and the lane for which it
// waits stays alive.
// One lock serves the process: changes and long waits are rare, and hierarchies share their upper
// parts. Lock order: a lane's `control`, then this lock.
// Model: "retarget: two lanes that would target each other" (Verification/Models/Scenes).

final class HierarchyLock: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock: the threads that have waited for long, and their lanes. See LongWait.
  @Cell var waiters: [LongWait] = []
  /// Guarded by the lock: a thread has found a deadlock cycle and stops the process. It has given
  /// the lock up, so that what runs at the end (a handler of the signal) may use queues.
  @Cell var isReported = false
}

extension Lane {
  static let hierarchyLock = HierarchyLock()

  /// The target at this moment, for a thread that does not hold the lane.
  final var targetNow: Lane? { Self.hierarchyLock.lock.withLock { target } }
}
