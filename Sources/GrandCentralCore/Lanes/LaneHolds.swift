// Room: Lanes/LaneHolds. What a thread holds of each lane. A forked child resets its lanes by it
// (Lane+Fork), and the search for deadlock cycles counts the permits of a full lane (WaitGraph).
// The frames of the thread say what it holds, by their kind (Lane+Sync, FrameKind):
//   entered   by a sync() or an activation. The thread owns the lane, or shares it. A sync() also
//             holds the targets, without frames of their own; an activation, which `held` marks,
//             runs in frames of its targets
//   counted   an item that was admitted beside others: one of the lane's `running`
//   visiting  on behalf of a waiting thread, which holds the lane itself: this thread holds nothing
//   lent      a permit for threads that work on this one's behalf (Lane+Width). No forked child has
//             those threads, so it has no such permit either

/// The lanes that a thread holds. A thread holds few, so these are lists: the first hash table of a
/// type takes the runtime a search through all conformances.
struct LaneHolds {
  /// The permits that the thread holds, a lane each.
  private var shared: [UnsafeMutableRawPointer] = []
  /// Those that it has taken for other threads.
  private var lent: [UnsafeMutableRawPointer] = []
  private var bound: [UnsafeMutableRawPointer] = []
  private let thread: ThreadContext

  init(of thread: ThreadContext) {
    self.thread = thread
    var frames = Frames(thread: thread)
    while let frame = frames.takeFrame() {
      // SAFETY: a lane is held while its frame stands.
      guard let queue = frame.queue else { continue }
      let lane = Unmanaged<Lane>.fromOpaque(queue).takeUnretainedValue()
      switch frame.kind {
      case .visiting: break
      case .counted: addShared(lane)
      case .lent: lent.append(lane.address)
      case .entered: addEntered(lane)
      }
    }
  }

  mutating func addShared(_ lane: Lane) { shared.append(lane.address) }

  private mutating func addEntered(_ lane: Lane) {
    switch lane.kind {
    case .root: return
    case .bound:
      bound.append(lane.address)
      return
    case .serial, .concurrent: break
    }
    if lane.isOwned(by: thread) {
      if lane.state.load(ordering: .relaxed).isHeld { return }
    } else {
      addShared(lane)
    }
    addTargets(of: lane)
  }

  mutating func addTargets(of lane: Lane) {
    var below = lane.target
    while let target = below {
      if target.kind == .concurrent && !target.isOwned(by: thread) { addShared(target) }
      below = target.target
    }
  }

  func isOwner(of lane: Lane) -> Bool {
    lane.kind == .bound ? bound.contains(lane.address) : lane.isOwned(by: thread)
  }

  func count(on lane: Lane) -> Int { Self.count(lane, in: shared) }
  func countLent(on lane: Lane) -> Int { Self.count(lane, in: lent) }

  private static func count(_ lane: Lane, in list: [UnsafeMutableRawPointer]) -> Int {
    list.reduce(0) { $1 == lane.address ? $0 + 1 : $0 }
  }
}
