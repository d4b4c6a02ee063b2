// Room: Lanes/WaitGraph. Finds deadlock cycles: threads that wait for each other.
// The nodes of the graph are the threads with a long wait (LongWait). Each waits for a lane. What
// keeps the wait from ending is its obstacle, a set of threads:
//
//   the state of the lane             the obstacle
//   the main queue                    the main thread; after its end, the worker that drains it
//   a thread is inside alone          that thread
//   its activation is in flight       the obstacle of its target; unknown if a barrier is first
//                                     in line there
//   a barrier is first in line        all threads that share the lane
//   all permits are taken             any of the threads that share it, if all are registered: one
//                                     that leaves may be enough. A permit is one unit of `running`:
//                                     a shared holder has one, and those that it has taken for the
//                                     helpers of a loop
//   suspended, or between exchanges   unknown: the wait may end
//
// The search has three steps.
//   1. It collects the waits that can be reached: the searching thread's, those of the threads in
//      its obstacle, and so on.
//   2. It removes each wait that may end: its obstacle is unknown; or one thread of the obstacle is
//      enough, and one of them was not collected; or all must continue, and none of them was. That
//      may free others, so it repeats this until nothing changes. The remaining threads are stuck.
//   3. It follows the remaining waits until a thread comes twice: that part is the cycle.
// Invariant: a reported cycle is a deadlock: none of its threads can continue before the next one
// does, or, at a full lane, before one of several that are stuck too. For a wait for a lane has no
// time limit; a registered thread takes the hierarchy lock before it continues, so its frames, its
// permits and the lanes that it owns do not change during a search, and no target does; a wait that
// has been granted or served is left out (Parker.isGranted, ThreadShared.isServed); and each doubt
// counts as "may end". So the remaining threads are a set in which each needs another one to move
// first.
//
// All functions here run under the hierarchy lock, which keeps lanes and frames valid.
// These cycles are uncertain and not reported: through the permit of a thread that still waits to
// enter that lane's target, since it has no frame there yet; through a barrier that is first in a
// target; through a suspended lane; through asyncAndWait() without a barrier on a concurrent queue;
// and through the end of a concurrentPerform loop.

enum WaitGraph {
  /// Searches for a deadlock cycle that `wait` is part of or leads to. Returns the report with
  /// which the caller stops the process, without the lock; `nil`: there is none, or another thread
  /// has its report. Under the hierarchy lock, with `wait` registered.
  static func search(from wait: LongWait) -> String? {
    guard !Lane.hierarchyLock.isReported, let cycle = cycle(from: wait) else { return nil }
    Lane.hierarchyLock.isReported = true
    return DeadlockReport.text(cycle)
  }

  /// The threads that keep a wait from ending.
  private struct Obstacle {
    var threads: [ThreadContext] = []
    /// Whether it suffices that one of the threads continues. Otherwise all must.
    var isOneEnough = false

    static var unknown: Obstacle { Obstacle() }

    /// Whether a wait with this obstacle cannot end while the threads of `stuck` do not continue.
    func stops(_ stuck: [ThreadContext: Edge]) -> Bool {
      isOneEnough
        ? !threads.isEmpty && threads.allSatisfy { stuck[$0] != nil }
        : threads.contains { stuck[$0] != nil }
    }
  }

  private struct Edge {
    let wait: LongWait
    let obstacle: Obstacle
  }

  // MARK: The three steps

  /// The deadlock cycle that `start` reaches, in the order of the waits; `nil` if there is none.
  private static func cycle(from start: LongWait) -> [LongWait]? {
    var stuck = edges(from: start)
    var before = 0
    repeat {
      before = stuck.count
      stuck = stuck.filter { $0.value.obstacle.stops(stuck) }
    } while stuck.count < before
    guard var last = stuck[start.thread] else { return nil }
    var path = [last.wait]
    while true {
      let ahead = last.obstacle.threads.lazy.compactMap { stuck[$0] }
      if let next = ahead.first(where: { next in !path.contains { $0.thread == next.wait.thread } })
      {
        path.append(next.wait)
        last = next
      } else {
        // All threads ahead are on the path. There is at least one, or this thread would not be
        // stuck.
        let ends = ahead.map(\.wait.thread)
        return path.firstIndex { ends.contains($0.thread) }.map { Array(path[$0...]) }
      }
    }
  }

  /// The waits of `start` and of all registered threads that it reaches, by thread. Each thread is
  /// visited once: the search does not follow every path through threads that share lanes.
  private static func edges(from start: LongWait) -> [ThreadContext: Edge] {
    var edges: [ThreadContext: Edge] = [:]
    var waits = [start]
    while let wait = waits.popLast() {
      // A granted thread continues as soon as it gets a CPU, although it is still registered.
      guard edges[wait.thread] == nil, !Parker.isGranted(wait.thread) else { continue }
      let obstacle = obstacle(to: wait)
      edges[wait.thread] = Edge(wait: wait, obstacle: obstacle)
      for thread in obstacle.threads where edges[thread] == nil {
        if let next = Lane.hierarchyLock.waiters.first(where: { $0.thread == thread }) {
          waits.append(next)
        }
      }
    }
    return edges
  }

  // MARK: The obstacle

  /// The obstacle to `wait`: that of its lane, or of the target that its lane waits for.
  private static func obstacle(to wait: LongWait) -> Obstacle {
    var next: Lane? = wait.lane
    while let lane = next, lane.kind != .root {
      if lane.kind == .bound {
        return Obstacle(threads: lane.boundThread.map { [$0] } ?? [])
      }
      // relaxed: only a registered thread counts, and the lock orders what it stored before.
      if let inside = ThreadContext(bitPattern: lane.owner.load(ordering: .relaxed)) {
        return Obstacle(threads: [inside])
      }
      // acquiring: a grant from before the barrier was first in line, or before the lane was full,
      // shows below.
      let seen = lane.state.load(ordering: .acquiring)
      if seen.isSuspended { return .unknown }
      if lane.kind == .concurrent && seen.awaitsBarrier {
        // Only for the lane of the wait: another lane's activation may already have been let in.
        return lane === wait.lane ? readers(stopping: wait) : .unknown
      }
      if lane.kind == .concurrent && !seen.isLocked && seen.running >= lane.widthNow {
        return Obstacle(threads: sharers(of: lane, ifAre: seen.running), isOneEnough: true)
      }
      // Only an activation waits for the target. A lane without an owner is in transition.
      guard seen.isLocked && seen.isHeld else { return .unknown }
      next = lane.target
    }
    return .unknown
  }

  /// The registered threads that share the lane of `wait`, in which a barrier is first in line. The
  /// wait is the barrier's own, or behind it, unless it was admitted before.
  private static func readers(stopping wait: LongWait) -> Obstacle {
    // If the thread, or its closure, has been let in before the barrier, it only needs a CPU.
    guard !wait.thread.shared.isServed.load(ordering: .relaxed), !Parker.isGranted(wait.thread)
    else { return .unknown }
    let threads = Lane.hierarchyLock.waiters.map(\.thread)
    return Obstacle(threads: threads.filter { wait.lane.isHeldShared(by: $0) })
  }

  /// The threads that share a lane, if all are registered and hold `count` permits together;
  /// otherwise none. A waiter that was let in just now, or an item without a thread yet, also holds
  /// a permit: it is not registered, and will continue.
  private static func sharers(of lane: Lane, ifAre count: Int) -> [ThreadContext] {
    var threads: [ThreadContext] = []
    var permits = 0
    for waiter in Lane.hierarchyLock.waiters {
      let holds = LaneHolds(of: waiter.thread)
      let held = holds.count(on: lane) + holds.countLent(on: lane)
      if held > 0 { threads.append(waiter.thread) }
      permits += held
    }
    return permits == count ? threads : []
  }
}
