// Room: Lanes/Lane+Fork. Lanes in a forked child.
// The child has one thread and no queued work, which the parent runs. A lane keeps what this thread
// holds of it. All other holders are gone, with their owner words, their places in line and their
// activations.
// The frames of the thread say what it holds, by their kind (Lane+Sync, FrameKind):
//   entered   by a sync() or an activation. The thread owns the lane, or shares it. A sync() also
//             holds the targets, without frames of their own; an activation, which `held` marks,
//             runs in frames of its targets
//   counted   an item that was admitted beside others: one of the lane's `running`
//   visiting  on behalf of a waiting thread, which holds the lane itself: this thread holds nothing
// A thread of the parent may have set the `held` flag and not yet retained the lane, which the
// child cannot see. So the child retains a lane that stays held once more. Such a lane may never
// die; that is the price of safety in the child.
import CLinux

/// The lanes that a thread holds.
struct LaneHolds {
  private var shared: [UnsafeMutableRawPointer: Int] = [:]
  private var bound: Set<UnsafeMutableRawPointer> = []
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
      case .entered: addEntered(lane)
      }
    }
  }

  /// Finds what `thread` would hold inside `lane`, so that the code has run once before a fork: see
  /// ForkGate.whenForked(). No other thread knows the lane.
  static func rehearse(on lane: Lane, by thread: ThreadContext) {
    var frame = gc_frame(previous: thread.pointee.frame, queue: lane.address)
    // SAFETY: the frame is taken off the thread before this function returns.
    withUnsafeMutablePointer(to: &frame) { frame in
      thread.pointee.frame = UnsafeMutableRawPointer(frame)
      defer { thread.pointee.frame = frame.pointee.previous }
      var holds = LaneHolds(of: thread)
      holds.addShared(lane)
      holds.addTargets(of: lane)
      _ = (holds.isOwner(of: lane), holds.count(on: lane))
    }
  }

  private mutating func addShared(_ lane: Lane) { shared[lane.address, default: 0] += 1 }

  private mutating func addEntered(_ lane: Lane) {
    switch lane.kind {
    case .root: return
    case .bound:
      bound.insert(lane.address)
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

  private mutating func addTargets(of lane: Lane) {
    var below = lane.target
    while let target = below {
      if target.kind == .concurrent && !target.isOwned(by: thread) { addShared(target) }
      below = target.target
    }
  }

  func isOwner(of lane: Lane) -> Bool {
    lane.kind == .bound ? bound.contains(lane.address) : lane.isOwned(by: thread)
  }

  func count(on lane: Lane) -> Int { shared[lane.address] ?? 0 }
}

extension Lane {
  /// Resets the lane in a forked child. Called by the child's only thread.
  final func afterFork(_ holds: LaneHolds) {
    forgetParent()
    if kind == .root { return }
    batch = nil
    let isOwned = holds.isOwner(of: self)
    if !isOwned { owner.store(0, ordering: .relaxed) }
    // The nodes that asked for a drain are gone.
    let asked = drainRequests.load(ordering: .relaxed)
    if asked != asked.afterFork() { drainRequests.store(asked.afterFork(), ordering: .relaxed) }
    let seen = state.load(ordering: .relaxed)
    let next = seen.afterFork(
      isOwned: isOwned, running: holds.count(on: self),
      targetsLane: target.map { $0.kind != .root } ?? false)
    if next.isHeld { _ = Unmanaged.passRetained(self) }
    // Most lanes are idle. Without a write their memory stays shared with the parent.
    if next != seen { state.store(next, ordering: .relaxed) }
  }
}
