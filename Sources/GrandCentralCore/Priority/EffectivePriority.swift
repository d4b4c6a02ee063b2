// Room: Priority/EffectivePriority. The class at which a thread works, including what other threads
// ask of it. Its items see and pass on another one: gc_thread.qos.
//   effectivePriority  readable by any thread; 0 if the thread was never raised or lowered. Here
//                      "priority" for short
//   waitsFor           what the thread sleeps for
// Both change under the thread's lock. Two fields belong to the thread alone: `applied`, the
// priority that it set last, and `boosted`, whether other threads may have raised it since.
//   owner   apply: lock; priority = maximum of its own class and what its lanes ask; effects;
//           unlock
//   raiser  lock; check that the reason still holds; priority = the higher one; help; unlock; then
//           raise what the thread waits for, if it sleeps
// The thread first ends what it may have been raised for, and then applies its priority again. So
// each boost ends exactly once, and none is applied too late. A raiser takes no lock if the thread
// already works at that class: the raiser writes the urgency into the lane's word, then loads the
// priority; the owner stores its priority, then loads its words again; all four are sequentially
// consistent. README.md has the proofs, and follows the chains of waits.
// No thread holds two of these locks.
import CGrandCentralLinux

/// An object that threads wait for, and whose owner they raise.
protocol PriorityInheriting: AnyObject {
  /// Reports that a thread which waits here now counts as `band`. Any thread, without locks held.
  func waiterPriorityDidRise(to band: Band, from thread: ThreadContext)
}

enum EffectivePriority {
  static func of(_ thread: ThreadContext) -> Band {
    (Band(rawValue: UInt8(thread.effectivePriority)) ?? .unspecified).rank
  }

  /// Makes the calling thread work at `band`.
  @inline(__always)
  static func apply(_ band: Band, on thread: ThreadContext) {
    if isAt(band, thread) { return }
    reapply(on: thread) { band }
  }

  /// Whether the calling thread already works at `band`, and no other thread may have raised it.
  @inline(__always)
  static func isAt(_ band: Band, _ thread: ThreadContext) -> Bool {
    thread.pointee.applied == UInt32(band.rawValue) && thread.pointee.boosted == 0
  }

  /// Applies the result of `choose`, which runs under the lock. It sees what an earlier raiser has
  /// written into a lane's word; a later raiser finds the priority that is set here.
  @inline(never)
  static func reapply(on thread: ThreadContext, _ choose: () -> Band) {
    let shared = thread.shared
    thread.pointee.boosted = 0
    shared.effectivePriorityLock.withLock {
      var band = choose()
      while true {
        thread.pointee.applied = UInt32(band.rawValue)
        // sequentiallyConsistent: see above.
        shared.effectivePriority.store(UInt32(band.rawValue), ordering: .sequentiallyConsistent)
        let now = choose()
        if now <= band { break }
        band = now
      }
      ThreadEffects.apply(band, on: thread)
      // Settings that the thread has kept for a moment: the next item looks again.
      if ThreadEffects.isKept(thread) { thread.pointee.boosted = 1 }
    }
  }

  /// Records that the calling thread ends, or lowers, work that other threads saw at `band`.
  @inline(__always)
  static func noteEnd(of band: Band, on thread: ThreadContext) {
    if UInt32(band.rawValue) > thread.pointee.applied { thread.pointee.boosted = 1 }
  }

  /// Whether other threads may have raised the calling thread, or it has raised itself for them.
  @inline(__always)
  static func mayBeRaised(_ thread: ThreadContext) -> Bool {
    if thread.pointee.boosted != 0 { return true }
    let own = PackedQoS(rawValue: thread.pointee.qos).rank
    return thread.pointee.applied > UInt32(own.rawValue)
  }

  /// Raises `thread` until it next applies its own priority, if `holds` is true under its lock. Any
  /// thread but `thread`.
  static func raise(
    _ thread: ThreadContext, to band: Band, from raiser: ThreadContext, if holds: () -> Bool
  ) {
    let shared = thread.shared
    // sequentiallyConsistent: see above.
    let seen = Band(
      rawValue: UInt8(shared.effectivePriority.load(ordering: .sequentiallyConsistent)))
    if (seen ?? .unspecified).rank >= band { return }
    let next = shared.effectivePriorityLock.withLock { () -> AnyObject? in
      guard of(thread) < band, holds() else { return nil }
      shared.effectivePriority.store(UInt32(band.rawValue), ordering: .relaxed)
      ThreadEffects.help(thread, to: band)
      return shared.waitsFor
    }
    (next as? any PriorityInheriting)?.waiterPriorityDidRise(to: band, from: raiser)
  }

  /// Sleeps in `body`, waiting for `object`. A raise of the thread during the wait also raises
  /// `object`. So does a raise since `known`, the class that the wait began with.
  static func waiting<Result>(
    _ thread: ThreadContext, for object: some PriorityInheriting, at known: Band,
    _ body: () -> Result
  ) -> Result {
    let shared = thread.shared
    let now = shared.effectivePriorityLock.withLock {
      shared.waitsFor = object
      return of(thread)
    }
    if now > known { object.waiterPriorityDidRise(to: now, from: thread) }
    defer { shared.effectivePriorityLock.withLock { shared.waitsFor = nil } }
    return body()
  }
}
