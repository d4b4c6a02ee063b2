// Room: QoS/Standing. At which class a thread works, what others ask of it included: not what its items
// see and hand on (gc_thread.qos).
//   standing  what anybody may compare himself with; 0 is that of a thread nobody has raised or lowered
//   waitsFor  what the thread sleeps for
// Both change under the thread's lock. `adopted` and `lent` are the thread's own: what it last set its
// standing to, and that somebody may have raised it since.
//   owner   adopt: lock; standing = its own class and what its lanes ask; effects; unlock
//   raiser  lock; does that still hold for which it raises? standing = more; help; unlock
//           then what the thread waits for is raised likewise, if it sleeps
// The thread ends what it may have been raised for first (it leaves the lane, or lowers its urgency), and
// then adopts. So a raiser either had the lock before and is undone, or finds that it comes too late: each
// raise is taken back exactly once, and none after the fact. Whether there may have been a raise the owner
// reads off the word that it leaves: LaneState.urgency is at least what anybody raises it to.
// A raiser that finds the thread at that class already does not take the lock: work of one class costs a look. That
// is a store and a load on either side, all sequentially consistent: the raiser puts the urgency into the word, then
// looks at the standing; the owner sets its standing, then looks at its words again. One of the two sees the other's.
// No thread holds two of these locks. A chain is followed link by link; it ends where a thread stands as
// high already, so it ends in a ring as well.
import CLinux

/// Something that threads wait for, and whose owner they raise.
protocol Awaited: AnyObject {
  /// One of those that wait here is to be treated as of `band` from now on. Any thread, without locks.
  func waiterRose(to band: Band, from thread: ThreadContext)
}

enum Standing {
  static func of(_ thread: ThreadContext) -> Band {
    (Band(rawValue: UInt8(thread.standing)) ?? .unspecified).place
  }

  /// The calling thread works at `band` from here on.
  @inline(__always)
  static func adopt(_ band: Band, on thread: ThreadContext) {
    if isAt(band, thread) { return }
    adoptNow(on: thread) { band }
  }

  /// Whether the calling thread has nothing to do to work at `band`.
  @inline(__always)
  static func isAt(_ band: Band, _ thread: ThreadContext) -> Bool {
    thread.pointee.adopted == UInt32(band.rawValue) && thread.pointee.lent == 0
  }

  /// `choose` is called under the lock: what a raiser has put into a lane's word before is seen then, and
  /// one that comes later finds the standing that is set here.
  @inline(never)
  static func adoptNow(on thread: ThreadContext, _ choose: () -> Band) {
    let shared = thread.shared
    thread.pointee.lent = 0
    shared.standingLock.withLock {
      var band = choose()
      while true {
        thread.pointee.adopted = UInt32(band.rawValue)
        // sequentiallyConsistent: see above.
        shared.standing.store(UInt32(band.rawValue), ordering: .sequentiallyConsistent)
        let now = choose()
        if now <= band { break }
        band = now
      }
      ThreadEffects.apply(band, on: thread)
    }
  }

  /// The calling thread ends, or lowers, something that others knew to be as urgent as `band`.
  @inline(__always)
  static func noteEnd(of band: Band, on thread: ThreadContext) {
    if UInt32(band.rawValue) > thread.pointee.adopted { thread.pointee.lent = 1 }
  }

  /// Whether others may have raised the calling thread, or it has raised itself for them.
  @inline(__always)
  static func mayBeRaised(_ thread: ThreadContext) -> Bool {
    if thread.pointee.lent != 0 { return true }
    let own = PackedQoS(rawValue: thread.pointee.qos).place
    return thread.pointee.adopted > UInt32(own.rawValue)
  }

  /// Raises `thread` for as long as it takes itself. Any thread but that one.
  static func raise(
    _ thread: ThreadContext, to band: Band, from raiser: ThreadContext, if holds: () -> Bool
  ) {
    let shared = thread.shared
    // sequentiallyConsistent: see above.
    let seen = Band(rawValue: UInt8(shared.standing.load(ordering: .sequentiallyConsistent)))
    if (seen ?? .unspecified).place >= band { return }
    let next = shared.standingLock.withLock { () -> AnyObject? in
      guard of(thread) < band, holds() else { return nil }
      shared.standing.store(UInt32(band.rawValue), ordering: .relaxed)
      ThreadEffects.help(thread, to: band)
      return shared.waitsFor
    }
    (next as? any Awaited)?.waiterRose(to: band, from: raiser)
  }

  /// Sleeps in `body`, for `object`. Who raises the thread meanwhile raises that too; and who has done so
  /// since `known`, the class that the wait was begun with, is followed here.
  static func waiting<Result>(
    _ thread: ThreadContext, for object: some Awaited, at known: Band, _ body: () -> Result
  ) -> Result {
    let shared = thread.shared
    let now = shared.standingLock.withLock {
      shared.waitsFor = object
      return of(thread)
    }
    if now > known { object.waiterRose(to: now, from: thread) }
    defer { shared.standingLock.withLock { shared.waitsFor = nil } }
    return body()
  }
}
