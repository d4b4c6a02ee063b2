// Room: Lanes/Lane+Where. Which lanes a thread is on, by its frames and their hierarchies.
// A thread that runs an item of a lane, or enters it by sync(), pushes a frame. While the frame
// stands the lane is held, so its target is fixed, and so on up to the root.
import CGrandCentralLinux

extension Lane {
  /// Whether the lane's owner word names `thread`. False on a lane that threads share, and on the
  /// main queue.
  @inlinable @inline(__always)
  final func isOwned(by thread: ThreadContext) -> Bool {
    // relaxed: only this thread itself stores this value.
    owner.load(ordering: .relaxed) == thread.ownerWord
  }

  /// Whether `thread` runs an item of this lane or of a lane that leads to it.
  @inline(__always)
  final func isCurrent(on thread: ThreadContext) -> Bool {
    if isOwned(by: thread) { return true }
    if kind == .bound && isBoundTo(thread) { return true }
    return Frames(thread: thread).isAny && isOnFrame(of: thread)
  }

  /// Compares addresses, so that no lane on the path is retained.
  @inline(never)
  private final func isOnFrame(of thread: ThreadContext) -> Bool {
    let own = address
    return Frames.search(thread) { $0.toOpaque() == own }
  }

  /// Whether `thread` runs an item that holds this lane alone.
  final func isHeldAlone(by thread: ThreadContext) -> Bool {
    kind == .bound ? isBoundTo(thread) : isOwned(by: thread)
  }

  /// Whether `thread` holds the lane so that no other holder can enter: alone, or with the only
  /// permit of a lane of width one. `exclusive`: so that no exclusive holder can enter.
  final func isClosed(by thread: ThreadContext, exclusive: Bool = false) -> Bool {
    isHeldAlone(by: thread)
      || kind == .concurrent && (exclusive || widthNow == 1) && isHeldShared(by: thread)
  }

  /// Stops the process if a wait for an item of this lane can never end, because `thread` holds the
  /// lane. `exclusive`: the item is a barrier.
  final func failIfHeld(by thread: ThreadContext, exclusive: Bool = false) {
    if isClosed(by: thread, exclusive: exclusive) { failSelfSync(on: thread) }
    firstClosed(by: thread)?.failSelfSync(on: thread)
  }

  /// The first lane that `thread` keeps closed, from this lane up to the root.
  final func firstClosed(by thread: ThreadContext) -> Lane? {
    sequence(first: self, next: { $0.kind == .root ? nil : $0.targetNow })
      .first { $0.kind != .root && $0.isClosed(by: thread) }
  }

  /// Whether this lane may get another target without being drained, before work on it reaches
  /// `above`, one of its targets: an inactive lane on the way can.
  final func mayLeave(_ above: Lane) -> Bool {
    sequence(first: self, next: { $0.targetNow }).prefix { $0 !== above }
      .contains(where: \.isInactive)
  }

  final func isHeldShared(by thread: ThreadContext) -> Bool {
    isCurrent(on: thread) && !isHeldAlone(by: thread)
  }

  /// Whether `thread` itself shares the lane. Its frames of visits do not count: they stand for
  /// permits of threads that wait, which a forked child does not have.
  @inline(never)
  final func hasPermit(_ thread: ThreadContext) -> Bool {
    let own = address
    return !isOwned(by: thread)
      && Frames.search(thread, leavingOut: .visiting) { $0.toOpaque() == own }
  }

  /// The bound lane at the end of this lane's targets. Only for a holder of the lane whose
  /// hierarchy enterSlowly() found to end there.
  final var boundEnd: Lane {
    var lane = self
    while lane.kind != .bound { lane = lane.withTarget { $0 } }
    return lane
  }

  /// This lane, its target, and so on up to the root. Only for a holder of the lane.
  final var hierarchy: some Sequence<Lane> { sequence(first: self) { $0.target } }
}

/// How a frame was entered: its mark.
enum FrameKind: UInt {
  /// By a sync() or an activation that entered the lane.
  case entered = 0
  /// For an item that the lane counts as running.
  case counted = 1
  /// On behalf of a thread that waits meanwhile and holds the lane itself.
  case visiting = 2
  /// For a permit that this thread has taken for threads that work on its behalf.
  case lent = 3

  @inline(__always)
  func marked(_ queue: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: queue) | rawValue)
  }

  init(of frame: gc_frame) {
    self = FrameKind(rawValue: UInt(bitPattern: frame.queue) & gc_frame.markMask) ?? .entered
  }
}

/// The lanes that a thread is on, innermost first.
struct Frames: Sequence, IteratorProtocol {
  /// At the end, the base of the chain.
  private var frame: ThreadFrame

  init(thread: ThreadContext) { frame = thread.pointee.frame.unsafelyUnwrapped }

  /// The innermost lane that the thread is on. Its frame holds it.
  static func innermost(_ thread: ThreadContext) -> Unmanaged<Lane>? {
    var frames = Frames(thread: thread)
    return frames.nextHeld()
  }

  /// Passes each lane that the thread is on, and its targets up to the root, to `isFound` until
  /// that returns true. Innermost first. `leavingOut`: frames of that kind do not count.
  @inline(__always)
  static func search(
    _ thread: ThreadContext, leavingOut kind: FrameKind? = nil,
    _ isFound: (Unmanaged<Lane>) -> Bool
  ) -> Bool {
    var frames = Frames(thread: thread)
    var frame = frames.takeFrame()
    while let start = frame {
      frame = frames.takeFrame()
      if start.kind == kind { continue }
      var next = start.queue
      while let address = next {
        // A drain inside another lane's drain: this pass serves the outer frame too. Passes of
        // their own would visit a chain of n lanes n²/2 times.
        while let outer = frame, outer.queue == address { frame = frames.takeFrame() }
        // SAFETY: while a frame stands its lane is held, and so are the targets above it.
        let lane = Unmanaged<Lane>.fromOpaque(address)
        if isFound(lane) { return true }
        next = lane._withUnsafeGuaranteedRef { $0.targetReference?.toOpaque() }
      }
    }
    return false
  }

  /// Whether a frame is left.
  @inline(__always)
  var isAny: Bool { frame.pointee.previous != nil }

  /// Whether there is more than one frame. The outermost is a root's, or that of an item without a
  /// lane.
  @inline(__always)
  var areNested: Bool { frame.pointee.previous?.pointee.previous != nil }

  /// The address of the innermost lane, which is not accessed.
  var address: UnsafeMutableRawPointer? { frame.pointee.queueAddress }

  /// Removes and returns the innermost remaining frame.
  mutating func takeFrame() -> (queue: UnsafeMutableRawPointer?, kind: FrameKind)? {
    guard let outer = frame.pointee.previous else { return nil }
    defer { frame = outer }
    return (frame.pointee.queueAddress, FrameKind(of: frame.pointee))
  }

  mutating func next() -> Lane? { nextHeld()?.takeUnretainedValue() }

  @inline(__always)
  private mutating func nextHeld() -> Unmanaged<Lane>? {
    while let (queue, _) = takeFrame() {
      // SAFETY: a lane is held while its frame stands.
      if let queue { return Unmanaged<Lane>.fromOpaque(queue) }
    }
    return nil
  }
}
