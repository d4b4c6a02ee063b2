// Room: Lanes/WaitGraph. Finds threads that wait for each other in a ring, and says so.
// A thread whose sync() has waited for a while registers what it waits for and walks:
//   lane → the threads that must go on before the lane can → the lanes that these wait for → …
// A lane that one thread is inside waits for that thread. One that is on its way to its target has no thread
// inside; it waits for whoever is inside the target. One whose first in line needs it alone waits for every
// thread that shares it; one that is full waits for any of them, and only where all are known. So the walk branches.
// Of all that it has reached those are taken away that can go on by what is known: until nothing changes, since one
// that goes on lets others. Those that are left wait for each other: whoever stops one is itself among them. The last
// thread to register finds every ring that it closes, since all others registered before it under the same lock.
// Not seen is a ring through a place that a thread has while it still waits to enter that lane's target, for it has no
// frame there yet, nor one through the end of a loop: these are waits that nobody can be sure of, and are not reported.
// Threads register after a wait of Tuning.deadlockSuspicionNanoseconds, so that a wait which ends soon pays nothing.
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
      if let ring = ring(from: link) { fail(ring) }
    }
    body()
    hierarchy.lock.withLock { hierarchy.waiters.removeAll { $0.thread == thread } }
  }

  /// Whether `thread` is registered.
  static func isRegistered(_ thread: ThreadContext) -> Bool {
    let hierarchy = Lane.hierarchyLock
    return hierarchy.lock.withLock { hierarchy.waiters.contains { $0.thread == thread } }
  }

  /// What keeps a waiter from going on.
  private struct Obstacle {
    var threads: [ThreadContext] = []
    /// It is enough that one of them goes on. If not, all have to.
    var isOneEnough = false

    /// `stuck`: those of whom nothing says that they can go on.
    func stops(_ stuck: [ThreadContext: Wait]) -> Bool {
      isOneEnough
        ? !threads.isEmpty && threads.allSatisfy { stuck[$0] != nil }
        : threads.contains { stuck[$0] != nil }
    }
  }

  private struct Wait {
    let link: Link
    let obstacle: Obstacle
  }

  /// Threads that wait for each other, among those that `walker` waits for, however far; in the order in which they do.
  private static func ring(from walker: Link) -> [Link]? {
    var stuck = waits(from: walker)
    var before = 0
    repeat {
      before = stuck.count
      stuck = stuck.filter { $0.value.obstacle.stops(stuck) }
    } while stuck.count < before
    guard var last = stuck[walker.thread] else { return nil }
    var path = [last.link]
    while true {
      let ahead = last.obstacle.threads.lazy.compactMap { stuck[$0] }
      if let next = ahead.first(where: { next in !path.contains { $0.thread == next.link.thread } })
      {
        path.append(next.link)
        last = next
      } else {
        // All of them are on the way already, or it would not be stuck.
        let ends = ahead.map(\.link.thread)
        return path.firstIndex { ends.contains($0.thread) }.map { Array(path[$0...]) }
      }
    }
  }

  /// Those that `walker` waits for, however far, and it. Each thread is walked once, or readers of readers would make a
  /// walk of every way through them.
  private static func waits(from walker: Link) -> [ThreadContext: Wait] {
    var waits: [ThreadContext: Wait] = [:]
    var links = [walker]
    while let link = links.popLast() {
      // A thread that was granted goes on as soon as it gets a CPU, whatever its record still says.
      guard waits[link.thread] == nil, !Parker.isGranted(link.thread) else { continue }
      let obstacle = obstacle(to: link)
      waits[link.thread] = Wait(link: link, obstacle: obstacle)
      for thread in obstacle.threads where waits[thread] == nil {
        if let next = Lane.hierarchyLock.waiters.first(where: { $0.thread == thread }) {
          links.append(next)
        }
      }
    }
    return waits
  }

  /// The threads that have to go on before the waiter can, as far as they can be known: inside its lane, or
  /// inside a target that the lane waits for.
  private static func obstacle(to waiter: Link) -> Obstacle {
    var next: Lane? = waiter.lane
    while let lane = next, lane.kind != .root {
      if lane.kind == .bound {
        return Obstacle(threads: ThreadRegistry.mainThread.map { [$0] } ?? [])
      }
      if let inside = ThreadContext(bitPattern: lane.owner.load(ordering: .relaxed)) {
        return Obstacle(threads: [inside])
      }
      // acquiring: a grant that was given before the barrier came first, or the lane was full, is seen below.
      let seen = lane.state.load(ordering: .acquiring)
      // A barrier that is first in line waits for those who share the lane, and the waiter stands behind
      // it, or is it; unless its turn has come: it was let in, or its closure was, and needs a CPU only. The
      // same may be true of another lane's activation, so this is said of the waiter's own lane alone.
      if lane.kind == .concurrent && !seen.isSuspended && seen.awaitsBarrier {
        guard lane === waiter.lane, !waiter.thread.shared.isServed.load(ordering: .relaxed),
          !Parker.isGranted(waiter.thread)
        else { return Obstacle() }
        return Obstacle(
          threads: Lane.hierarchyLock.waiters.map(\.thread).filter { lane.isHeldShared(by: $0) })
      }
      if lane.kind == .concurrent && !seen.isLocked && !seen.isSuspended
        && seen.running >= lane.widthNow
      {
        return Obstacle(threads: sharers(of: lane, ifAre: seen.running), isOneEnough: true)
      }
      // Only an activation waits for the target; a lane that nobody works on, or a suspended one,
      // waits for something that no walk can know.
      guard seen.isLocked && seen.isHeld && !seen.isSuspended else { return Obstacle() }
      next = lane.target
    }
    return Obstacle()
  }

  /// Those who share a lane, if they are all registered, with `count` places between them; else none. A waiter that was
  /// let in just now, or an item that has no thread yet, has a place too: it is none of these, and goes on.
  private static func sharers(of lane: Lane, ifAre count: Int) -> [ThreadContext] {
    var threads: [ThreadContext] = []
    var places = 0
    for waiter in Lane.hierarchyLock.waiters {
      let held = LaneHolds(of: waiter.thread).count(on: lane)
      if held > 0 { threads.append(waiter.thread) }
      places += held
    }
    return places == count ? threads : []
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
