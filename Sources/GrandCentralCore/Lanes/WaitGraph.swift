// Room: Lanes/WaitGraph. Finds threads that wait for each other in a ring, and says so.
// A thread whose sync() has waited for a while registers what it waits for and walks:
//   lane → the threads that must go on before the lane can → the lanes that these wait for → …
// A lane that one thread is inside waits for that thread. One that is on its way to its target has no thread
// inside; it waits for whoever is inside the target. One whose first in line needs it alone waits for every
// thread that shares it, so there the walk branches. If any branch comes back to the thread that walks,
// nothing of it can ever move: the last one waits for a lane that the walker holds while it waits here, so
// the one before cannot move either, and so on. The last thread to register finds every ring that it
// closes, since all others registered before it under the same lock. Threads register after a wait of
// Tuning.deadlockSuspicionNanoseconds, so that a wait which ends soon pays nothing.
// Lanes in the walk stay alive: a thread that waits for one keeps it, and takes the lock to leave. So do the
// frames of a registered thread stand, and what it shares can be read off them.

enum WaitGraph {
  /// A thread, and the lane that it waits for.
  struct Link {
    let thread: ThreadContext
    let lane: Lane
  }

  /// Sleeps in `body` as registered. Stops the process if the wait closes a ring.
  static func registered(
    _ thread: ThreadContext, waitingFor lane: Lane, _ body: () -> Void
  ) {
    let hierarchy = Lane.hierarchyLock
    let link = Link(thread: thread, lane: lane)
    hierarchy.lock.withLock {
      hierarchy.waiters.append(link)
      var path = [link]
      var seen: Set<ThreadContext> = []
      if comesBack(&path, &seen) { fail(path) }
    }
    body()
    hierarchy.lock.withLock { hierarchy.waiters.removeAll { $0.thread == thread } }
  }

  /// Whether `thread` is registered.
  static func isRegistered(_ thread: ThreadContext) -> Bool {
    let hierarchy = Lane.hierarchyLock
    return hierarchy.lock.withLock { hierarchy.waiters.contains { $0.thread == thread } }
  }

  /// Whether the end of `path` waits for its beginning, however far. `path` is then the ring. Each thread is
  /// walked once, or readers of readers would make a walk of every way through them.
  private static func comesBack(_ path: inout [Link], _ seen: inout Set<ThreadContext>) -> Bool {
    guard let walker = path.first?.thread, let last = path.last else { return false }
    for inside in threadsThatStop(last) {
      if inside == walker { return true }
      // A ring that does not lead through the walker was reported by one of its own.
      guard seen.insert(inside).inserted else { continue }
      // A thread that was granted goes on as soon as it gets a CPU, whatever its record still says.
      guard !Parker.isGranted(inside),
        let next = Lane.hierarchyLock.waiters.first(where: { $0.thread == inside })
      else { continue }
      path.append(next)
      if comesBack(&path, &seen) { return true }
      path.removeLast()
    }
    return false
  }

  /// The threads that have to go on before the waiter can, as far as they can be known: inside its lane, or
  /// inside a target that the lane waits for.
  private static func threadsThatStop(_ waiter: Link) -> [ThreadContext] {
    var next: Lane? = waiter.lane
    while let lane = next, lane.kind != .root {
      if lane.kind == .bound { return ThreadRegistry.mainThread.map { [$0] } ?? [] }
      if let inside = ThreadContext(bitPattern: lane.owner.load(ordering: .relaxed)) {
        return [inside]
      }
      // acquiring: a grant that was given before the barrier came first is seen below.
      let seen = lane.state.load(ordering: .acquiring)
      // A barrier that is first in line waits for those who share the lane, and the waiter stands behind
      // it, or is it; unless its turn has come: it was let in, or its closure was, and needs a CPU only. The
      // same may be true of another lane's activation, so this is said of the waiter's own lane alone.
      if lane.kind == .concurrent && !seen.isSuspended && seen.awaitsBarrier {
        guard lane === waiter.lane, !waiter.thread.shared.isServed.load(ordering: .relaxed),
          !Parker.isGranted(waiter.thread)
        else { return [] }
        return Lane.hierarchyLock.waiters.map(\.thread).filter { lane.isHeldShared(by: $0) }
      }
      // Only an activation waits for the target; a lane that nobody works on, or a suspended one,
      // waits for something that no walk can know.
      guard seen.isLocked && seen.isHeld && !seen.isSuspended else { return [] }
      next = lane.target
    }
    return []
  }

  private static func fail(_ links: [Link]) -> Never {
    var lines = ["Deadlock: \(links.count) thread(s) wait for each other in sync()."]
    for (index, link) in links.enumerated() {
      let holder = links[(index + 1) % links.count].thread
      lines.append(
        "  thread \(describe(link.thread)) waits for queue '\(link.lane.laneLabel)', "
          + "held by thread \(describe(holder))")
    }
    lines.append(
      "Use async() for one of these, or let all of them enter the queues in the same order.")
    clientFault(lines.joined(separator: "\n"))
  }

  private static func describe(_ thread: ThreadContext) -> String {
    let number = thread.shared.threadID.load(ordering: .relaxed)
    return "\(number) '\(Process.threadName(number))'"
  }
}

extension Lane {
  /// Stops: the calling thread wants to enter a lane that it holds already.
  final func failSelfSync(on thread: ThreadContext) -> Never {
    let name = laneLabel
    let current = Frames.innermost(thread)
    let place =
      if let current, current !== self {
        "from an item of queue '\(current.laneLabel)', which leads to it"
      } else {
        "from an item of that queue"
      }
    clientFault(
      """
      Deadlock: sync on queue '\(name)' \(place). The queue cannot run anything else until this item \
      returns. Call the function directly, or use async().
      """)
  }
}
