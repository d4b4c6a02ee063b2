// Room: Lanes/Lane+Fork. Lanes in a child that was forked.
// One thread is left, and nothing that was queued: the parent runs that. So a lane is what this thread holds of it. All
// other holders are gone, and with them their owner words, their places in line, their activations.
// What the thread holds is read off its frames, which say how they came about (Lane+Sync, FrameKind):
//   entered   by a sync() or an activation. It owns the lane, or else shares it. A sync() holds the targets too,
//             without frames of their own; an activation, which is told by `held`, runs in frames of its targets
//   counted   an item that was let in beside others: one of the lane's `running`
//   visiting  on behalf of a thread that waits, which is the one that holds the lane: nothing
// A lane may hold itself for a thread that set the flag and was gone before it retained, and nobody can tell; so one that
// goes on holding itself is retained once more. It may never die: that is the child's price for certainty.
import CLinux

/// Which lanes a thread holds.
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

  /// What is found by a thread that is inside of `lane`, which nobody else knows: see ForkGate.whenForked().
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
  /// In the child, by its only thread.
  final func afterFork(_ holds: LaneHolds) {
    forgetParent()
    if kind == .root { return }
    batch = nil
    let isOwned = holds.isOwner(of: self)
    if !isOwned { owner.store(0, ordering: .relaxed) }
    // Nodes that asked for the lane to be drained are gone.
    let asked = summons.load(ordering: .relaxed)
    if asked != asked.afterFork() { summons.store(asked.afterFork(), ordering: .relaxed) }
    let seen = state.load(ordering: .relaxed)
    let next = seen.afterFork(
      isOwned: isOwned, running: holds.count(on: self),
      targetsLane: target.map { $0.kind != .root } ?? false)
    if next.isHeld { _ = Unmanaged.passRetained(self) }
    // Most are idle, and share their memory with the parent as long as nobody writes there.
    if next != seen { state.store(next, ordering: .relaxed) }
  }
}
