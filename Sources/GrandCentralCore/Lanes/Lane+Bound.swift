// Room: Lanes/Lane+Bound. How the thread to which a lane is bound drains it: that of the main
// queue, and the host of a hosted queue.

extension Lane {
  /// Runs what is queued now. The caller has the lane's activation.
  final func drainForOwner(on thread: ThreadContext) {
    if drain(on: thread, atMost: queuedForOwner()) { Unmanaged.passUnretained(self).release() }
  }

  /// As above. Meanwhile `name` has the thread's address, and then `other`.
  final func drainForOwner(
    on thread: ThreadContext, namedIn name: borrowing Atomic<UInt>, otherwise other: UInt = 0
  ) {
    let word = UInt(bitPattern: thread)
    // relaxed: see boundThread.
    name.store(word, ordering: .relaxed)
    drainForOwner(on: thread)
    // The drain may have activated the lane again, and another thread may be in the next call. It
    // keeps its value, because only this thread's own is replaced.
    _ = name.compareExchange(
      expected: word, desired: other, successOrdering: .relaxed, failureOrdering: .relaxed)
  }

  /// How many nodes wait, as far as the owner can see without blocking submitters.
  private final func queuedForOwner() -> Int {
    // Bound lanes are never suspended.
    if batch == nil { _ = takePending() }
    guard let first = batch else { return 0 }
    return sequence(first: first) { $0.next }.reduce(0) { count, _ in count + 1 }
  }
}
