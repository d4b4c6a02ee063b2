// Room: Lanes/WaitGraph. Finds threads that wait for each other in a ring, and says so.
// A thread whose sync() has waited for a while registers what it waits for and walks:
//   lane → the thread inside it → the lane that this one waits for → …
// A lane that is on its way to its target has no thread inside; it waits for whoever is inside the
// target. If the walk comes back to the thread that walks, nothing of it can ever move, because the last
// one waits for a lane that the walker holds while it waits here; so the one before cannot move either,
// and so on. The last thread to register finds every ring that it closes, since all others registered
// before it under the same lock. Threads register after a wait of Tuning.deadlockSuspicionNanoseconds,
// so that a wait which ends soon pays nothing.
// Lanes in the walk stay alive: a thread that waits for one keeps it, and takes the lock to leave.

enum WaitGraph {
  /// Sleeps in `body` as registered. Stops the process if the wait closes a ring.
  static func registered(
    _ thread: ThreadContext, waitingFor lane: Lane, _ body: () -> Void
  ) {
    Lane.hierarchyLock.lock.withLock {
      thread.shared.waitingFor.store(UInt(bitPattern: lane.address), ordering: .relaxed)
      failOnRing(from: thread, waitingFor: lane)
    }
    body()
    Lane.hierarchyLock.lock.withLock {
      thread.shared.waitingFor.store(0, ordering: .relaxed)
    }
  }

  private struct Link {
    let thread: ThreadContext
    let lane: Lane
  }

  private static func failOnRing(from walker: ThreadContext, waitingFor first: Lane) {
    var links = [Link(thread: walker, lane: first)]
    var lane = first
    var waiter = walker
    while let inside = threadThatStops(lane, waiter: waiter, unlessItIs: walker) {
      if inside == walker { fail(links) }
      // A ring that does not lead through the walker was reported by one of its own.
      if links.contains(where: { $0.thread == inside }) { return }
      // A thread that was granted goes on as soon as it gets a CPU, whatever its record still says.
      guard !Parker.isGranted(inside),
        let waited = UnsafeRawPointer(
          bitPattern: inside.shared.waitingFor.load(ordering: .relaxed))
      else { return }
      // SAFETY: registered waiters keep their lane; the lock keeps them registered.
      lane = Unmanaged<Lane>.fromOpaque(waited).takeUnretainedValue()
      links.append(Link(thread: inside, lane: lane))
      waiter = inside
    }
  }

  /// The thread that has to go on before `lane` can: inside it, or inside a target that it waits for.
  private static func threadThatStops(
    _ lane: Lane, waiter: ThreadContext, unlessItIs walker: ThreadContext
  ) -> ThreadContext? {
    var next: Lane? = lane
    while let lane = next, lane.kind != .root {
      if lane.kind == .bound { return ThreadRegistry.mainThread }
      if let inside = ThreadContext(bitPattern: lane.owner.load(ordering: .relaxed)) {
        return inside
      }
      let seen = lane.state.load(ordering: .relaxed)
      // A barrier that is first in line waits for the walker to leave the lane, and the waiter stands
      // behind it; unless its turn has come, and it waits for its closure to return.
      if lane.kind == .concurrent && !seen.isSuspended && seen.awaitsBarrier
        && !waiter.shared.isServed.load(ordering: .relaxed) && lane.isHeldShared(by: walker)
      {
        return walker
      }
      // Only an activation waits for the target; a lane that nobody works on, or a suspended one,
      // waits for something that no walk can know.
      guard seen.isLocked && seen.isHeld && !seen.isSuspended else { return nil }
      next = lane.target
    }
    return nil
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
