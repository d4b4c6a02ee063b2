// Room: Queues/DispatchQueue+Width. How a concurrent queue gets a width: see Lanes/Lane+Width.

extension DispatchQueue {
  /// No more than this many items of a concurrent queue run at the same time, of those that are submitted after this
  /// call. At least 1 is taken, and at most what a queue has by itself. Serial and global queues keep theirs.
  package final func setWidth(_ asked: Int) {
    guard kind == .concurrent else { return }
    let width = UInt16(min(max(asked, 1), LaneState.mostRunning))
    // relaxed: whoever leaves the lane publishes it.
    let isSet = holdIfIdle(on: currentThread()) { self.width.store(width, ordering: .relaxed) }
    if isSet { return }
    async(flags: .barrier) { self.width.store(width, ordering: .relaxed) }
  }
}
