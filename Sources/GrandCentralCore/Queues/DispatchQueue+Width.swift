// Room: Queues/DispatchQueue+Width. How a concurrent queue gets a width: see Lanes/Lane+Width.

extension DispatchQueue {
  /// No more than this many items of a concurrent queue run at the same time, of those that are submitted after this
  /// call. At least 1 is taken, and at most what a queue has by itself. Serial and global queues keep theirs.
  package final func setWidth(_ asked: Int) {
    guard kind == .concurrent else { return }
    let width = UInt16(min(max(asked, 1), LaneState.mostRunning))
    // relaxed, here and below: whoever activates or leaves the lane publishes it.
    let isInactive = control.withLock {
      guard suspension.isInactive else { return false }
      // Nobody was let in yet, nor can be: who comes queues, and goes by the width from the activation on.
      self.width.store(width, ordering: .relaxed)
      return true
    }
    if isInactive { return }
    let isSet = holdIfIdle(on: currentThread()) { self.width.store(width, ordering: .relaxed) }
    if isSet { return }
    async(flags: .barrier) { self.width.store(width, ordering: .relaxed) }
  }
}
