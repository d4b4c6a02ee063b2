// Room: Pool/PoolState. The word that says how many workers there are and what they are at.
//   63…48 threads   workers that exist
//   47…32 idle      parked, waiting to be woken
//   31…16 searching looking for work on behalf of whoever submits: at most one wake-up is under way
//   15…0  active    taken to be using a CPU; blocked workers are in none of idle, searching, active
// Invariant: searching ≤ active; active + idle ≤ threads.
// Every change of idle happens under the pool's idle lock, together with the stack of idle workers.

struct PoolState: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  var rawValue: UInt64

  private static var oneActive: UInt64 { 1 }
  private static var oneSearching: UInt64 { 1 << 16 }
  private static var oneIdle: UInt64 { 1 << 32 }
  private static var oneThread: UInt64 { 1 << 48 }

  var active: Int { Int(rawValue & 0xffff) }
  var searching: Int { Int(rawValue >> 16 & 0xffff) }
  var idle: Int { Int(rawValue >> 32 & 0xffff) }
  var threads: Int { Int(rawValue >> 48) }
}

extension PoolState {
  enum WakeAction: Hashable {
    /// Somebody searches already, or as many as may be are active.
    case nothing
    /// All CPUs are taken, or as many threads exist as may for now: whether the workers really run, and
    /// whether more threads would help, is for the monitor to say.
    case saturated
    case wakeIdle
    case spawn
  }

  /// Work has come: one more worker goes searching, if that helps.
  func woken(width: Int, mostThreads: Int) -> (PoolState, WakeAction) {
    if searching > 0 { return (self, .nothing) }
    if active >= width { return (self, .saturated) }
    let more = rawValue + Self.oneActive + Self.oneSearching
    if idle > 0 { return (PoolState(rawValue: more - Self.oneIdle), .wakeIdle) }
    if threads >= mostThreads { return (self, .saturated) }
    return (PoolState(rawValue: more + Self.oneThread), .spawn)
  }

  /// A class has waited for long: one more worker comes for it, whatever the others do.
  func calledUp(mostThreads: Int) -> (PoolState, WakeAction) {
    let more = rawValue + Self.oneActive + Self.oneSearching
    if idle > 0 { return (PoolState(rawValue: more - Self.oneIdle), .wakeIdle) }
    if threads >= mostThreads { return (self, .saturated) }
    return (PoolState(rawValue: more + Self.oneThread), .spawn)
  }

  /// A worker that was to be spawned could not be.
  func spawnFailed() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneSearching - Self.oneThread)
  }

  /// An active worker has run out of its own work.
  func searchBegan() -> PoolState { PoolState(rawValue: rawValue + Self.oneSearching) }

  /// A searching worker found work. `isLast`: nobody searches any more.
  func searchEnded() -> (PoolState, isLast: Bool) {
    (PoolState(rawValue: rawValue - Self.oneSearching), searching == 1)
  }

  /// A searching worker found nothing and parks.
  func parked() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneSearching + Self.oneIdle)
  }

  /// A parked worker saw work in its last look, and takes itself back.
  func unparked() -> PoolState {
    PoolState(rawValue: rawValue + Self.oneActive + Self.oneSearching - Self.oneIdle)
  }

  /// An active worker parks because there are more than the width allows. `nil`: there are not.
  func steppedBack(width: Int) -> PoolState? {
    active > width ? PoolState(rawValue: rawValue - Self.oneActive + Self.oneIdle) : nil
  }

  /// A parked worker was not needed for long; its thread ends.
  func retired() -> PoolState { PoolState(rawValue: rawValue - Self.oneIdle - Self.oneThread) }

  /// An active worker's thread ends.
  func surrendered() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneThread)
  }

  /// A guest has brought work, and goes searching for more. `nil`: as many are active as may be.
  func joined(width: Int) -> PoolState? {
    if active >= width { return nil }
    return PoolState(rawValue: rawValue + Self.oneActive + Self.oneSearching + Self.oneThread)
  }

  /// A guest that searches found nothing, and goes back to where it waits.
  func left() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneSearching - Self.oneThread)
  }

  /// A guest goes because there are more active workers than the width allows. `nil`: there are not.
  func steppedOut(width: Int) -> PoolState? {
    active > width ? PoolState(rawValue: rawValue - Self.oneActive - Self.oneThread) : nil
  }

  /// In a child that was forked: there is one thread, which is a worker at work, or none.
  static func afterFork(isWorker: Bool, isSearching: Bool) -> PoolState {
    if !isWorker { return PoolState(rawValue: 0) }
    return PoolState(rawValue: oneActive + oneThread + (isSearching ? oneSearching : 0))
  }

  /// The item of an active worker sleeps.
  func blocked() -> PoolState { PoolState(rawValue: rawValue - Self.oneActive) }

  /// It goes on. There may now be more active workers than the width, until one steps back.
  func unblocked() -> PoolState { PoolState(rawValue: rawValue + Self.oneActive) }
}
