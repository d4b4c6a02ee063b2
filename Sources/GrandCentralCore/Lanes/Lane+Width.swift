// Room: Lanes/Lane+Width. How many items of a concurrent lane run at the same time.
// The width is not part of the word, which has no bits left. It changes only while the lane has no
// other holder: before activation, in a barrier, or while a thread holds the idle lane for a
// moment.
// A thread that admits a holder loads the word with acquiring, then the width. So arrivals after
// the call use the new width: until the barrier has run, the word makes them queue behind it; a
// word that does not was written after the change, and publishes the width.
// An arrival that races with the call may use the old width: the word that it read may change and
// return to the same value while the width changes. That is indistinguishable from an arrival
// before the call, except by counting the holders at that moment.

extension Lane {
  // relaxed: the acquiring load of the word orders this load, see above.
  @inline(__always)
  final var widthNow: Int { Int(width.load(ordering: .relaxed)) }

  /// How many holders the owner admits at most. A lane of the default width is mostly full because
  /// threads submit faster than items run; one look at the list then serves many, so the owner goes
  /// beyond the width. After as many holders have left, no fewer nodes of the line have been
  /// admitted than if each had admitted one. (But items that begin early may queue others early,
  /// before those of another thread.) Exact for an owner, and as fresh as the word that it has
  /// loaded.
  @inline(__always)
  final var admissionLimit: Int {
    let width = widthNow
    return width == LaneState.defaultWidth ? LaneState.maxAdmitted : width
  }

  /// The smallest width from this lane to the root, which has the largest possible. Only for a
  /// holder of the lane.
  final var narrowestWidth: Int { hierarchy.lazy.map(\.widthNow).min() ?? 1 }

  /// Takes up to `count` permits of every lane up to the root that limits its width, the same
  /// number of each, for threads that work on behalf of the caller while `body` runs; `body` gets
  /// the number. Only for a holder of the lane, so no permit that is given back is the last.
  /// The frames of the calling thread name them, for the search for deadlocks. A forked child does
  /// not have them, since it lacks the other threads.
  final func withPermits(
    for count: Int, on thread: ThreadContext, _ body: (_ granted: Int) -> Void
  ) {
    let granted = takeAllPermits(count, on: thread)
    let process = HomeProcess()
    let outer = thread.pointee.frame.unsafelyUnwrapped
    for lane in narrowLanes {
      for _ in 0..<granted { _ = thread.enterFrame(of: FrameKind.lent.marked(lane.address)) }
    }
    body(granted)
    thread.leaveFrame(to: outer)
    guard process.isCurrent else { return }
    for lane in narrowLanes { lane.leaveShared(granted, thread) }
  }

  /// The lanes up to the root that limit their width.
  private final var narrowLanes: some Sequence<Lane> {
    hierarchy.lazy.filter { $0.widthNow < LaneState.defaultWidth }
  }

  /// Takes the same number of permits of every such lane, up to `count`, and returns it.
  private final func takeAllPermits(_ count: Int, on thread: ThreadContext) -> Int {
    var taken = count
    for lane in narrowLanes {
      let found = lane.takePermits(taken)
      for earlier in narrowLanes.prefix(while: { $0 !== lane }) {
        earlier.leaveShared(taken - found, thread)
      }
      taken = found
    }
    return taken
  }

  private final func leaveShared(_ count: Int, _ thread: ThreadContext) {
    for _ in 0..<count { leaveShared(thread) }
  }

  /// Takes up to `count` permits, and returns how many. None if anything is queued, which goes
  /// first.
  private final func takePermits(_ count: Int) -> Int {
    // acquiring: the writes of the holders that left and made room. The width does not change while
    // the caller is inside.
    state.transition(.acquiring) { $0.admitted(upTo: count, width: widthNow) } ?? 0
  }
}
