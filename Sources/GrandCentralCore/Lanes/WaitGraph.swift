// Room: Lanes/WaitGraph. Detects and reports deadlock cycles: threads that wait for each other.
// A thread whose sync() has waited for Tuning.deadlockSuspicionNanoseconds registers what it waits
// for, and walks:
//   lane → the threads that must continue before the lane can → the lanes that these wait for → …
// So a wait that ends soon pays nothing. A lane waits for these threads:
//   one thread is inside             that thread
//   its activation is in flight      the thread inside the target
//   the first in line is exclusive   every thread that shares the lane
//   the lane is full                 any of the threads that share it, if all of them are known
// The walk removes from the threads that it reached those that can continue as far as known, and
// repeats until nothing changes, since each removal may free others. The remaining threads wait for
// each other: each thread that stops one of them is among them.
// The last thread to register finds every cycle that it closes, since all others registered before
// it under the same lock.
// Two kinds of cycle are uncertain and not reported: through the permit of a thread that still
// waits to enter that lane's target, since it has no frame there yet; and through the end of a
// concurrentPerform loop.
// Lanes in the walk stay alive: a thread that waits for a lane keeps it, and takes the lock to
// unregister. For the same reason the frames of a registered thread stay valid, and show what it
// shares.

enum WaitGraph {
  /// A thread, and the lane that it waits for.
  struct Link {
    let thread: ThreadContext
    let lane: Lane
  }

  /// Registers the thread while it sleeps in `body`. Stops the process if the wait closes a
  /// deadlock cycle.
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

  /// What keeps a waiter from continuing.
  private struct Obstacle {
    var threads: [ThreadContext] = []
    /// Whether it is enough that one of the threads continues. Otherwise all must.
    var isOneEnough = false

    /// `stuck`: the threads that may not be able to continue.
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

  /// The deadlock cycle that `walker` reaches, directly or through other threads, in the order of
  /// the waits; `nil` if there is none.
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
        // Every thread ahead is on the path already: otherwise this thread would not be stuck.
        let ends = ahead.map(\.link.thread)
        return path.firstIndex { ends.contains($0.thread) }.map { Array(path[$0...]) }
      }
    }
  }

  /// The waits of `walker` and of all threads that it reaches. Each thread is walked once, so that
  /// the walk does not follow every path through threads that share lanes.
  private static func waits(from walker: Link) -> [ThreadContext: Wait] {
    var waits: [ThreadContext: Wait] = [:]
    var links = [walker]
    while let link = links.popLast() {
      // A granted thread continues as soon as it gets a CPU, whatever its record still says.
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

  /// The threads that must continue before the waiter can, as far as known: threads inside its
  /// lane, or inside a target that the lane waits for.
  private static func obstacle(to waiter: Link) -> Obstacle {
    var next: Lane? = waiter.lane
    while let lane = next, lane.kind != .root {
      if lane.kind == .bound {
        return Obstacle(threads: ThreadRegistry.mainThread.map { [$0] } ?? [])
      }
      if let inside = ThreadContext(bitPattern: lane.owner.load(ordering: .relaxed)) {
        return Obstacle(threads: [inside])
      }
      // acquiring: a grant from before the barrier was first in line, or before the lane was full,
      // shows below.
      let seen = lane.state.load(ordering: .acquiring)
      // A barrier that is first in line waits for the threads that share the lane. The waiter is
      // behind the barrier, or is the barrier. But if the waiter, or its closure, was already let
      // in, it only needs a CPU. The same may be true of another lane's activation, so only the
      // waiter's own lane counts.
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
      // Only an activation waits for the target. What a suspended lane, or one without an owner,
      // waits for is not known.
      guard seen.isLocked && seen.isHeld && !seen.isSuspended else { return Obstacle() }
      next = lane.target
    }
    return Obstacle()
  }

  /// The threads that share a lane, if all are registered and hold `count` permits together;
  /// otherwise none. A waiter that was let in just now, or an item without a thread yet, also holds
  /// a permit: it is not registered, and will continue.
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
  /// Stops the process: the calling thread wants to enter a lane that it holds already.
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
