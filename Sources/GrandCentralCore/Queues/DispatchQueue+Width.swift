// Room: Queues/DispatchQueue+Width. Sets the width of a concurrent queue: see Lanes/Lane+Width.

extension DispatchQueue {
  /// Limits how many of the items submitted after this call run at the same time.
  ///
  /// The width is at least 1 and at most the queue's maximum. Serial and global queues keep theirs.
  package final func setWidth(_ asked: Int) {
    guard kind == .concurrent else { return }
    let width = UInt16(min(max(asked, 1), LaneState.defaultWidth))
    // relaxed, here and below: the thread that activates or leaves the lane publishes it.
    let isInactive = control.withLock {
      guard self.isInactive else { return false }
      // No item has been admitted and none can be: items queue, and use this width after
      // activation.
      self.width.store(width, ordering: .relaxed)
      return true
    }
    if isInactive { return }
    let isSet = holdIfIdle(on: currentThread()) { self.width.store(width, ordering: .relaxed) }
    if isSet { return }
    async(flags: .barrier) { self.width.store(width, ordering: .relaxed) }
  }
}
