// Room: Pool/PoolState. The word that counts the workers by what they do.
//   63…48 threads   workers that have a thread or get one
//   47…32 idle      parked, may be woken
//   31…16 searching looking for work on behalf of submitters, which wake no worker meanwhile
//   15…0  active    assumed to use a CPU; blocked workers are not idle, searching or active
// Invariant: searching + idle ≤ threads; searching ≤ active; active + idle ≤ threads. Exceptions of
// the last two: a searcher that the monitor found asleep is not active; active is one too high
// inside Monitor.mark() and unmark(), and for each worker inside Pool.comeBack() that the monitor
// has counted too. It is never too low.
// Every change of idle happens under the pool's idle lock, together with the idle stack.

struct PoolState: StateWord {
  var rawValue: UInt64

  static var oneActive: UInt64 { 1 }
  static var oneSearching: UInt64 { 1 << 16 }
  private static var oneIdle: UInt64 { 1 << 32 }
  static var oneThread: UInt64 { 1 << 48 }

  var active: Int { Int(rawValue & 0xffff) }
  var searching: Int { Int(rawValue >> 16 & 0xffff) }
  var idle: Int { Int(rawValue >> 32 & 0xffff) }
  var threads: Int { Int(rawValue >> 48) }
}

extension PoolState {
  /// Whether the counts can occur. A count that went below 0 took from its neighbour, and is far
  /// above the number of threads.
  var isValid: Bool { searching + idle <= threads && active <= 2 * (threads - idle) + 1 }

  enum WakeAction: Hashable {
    /// A worker searches already.
    case nothing
    /// The allowed number of workers is active, or of threads exists. The monitor decides whether
    /// the workers really run, and whether more threads would help.
    case saturated
    case wakeIdle
    case spawn
  }

  /// Adds a searching worker for new work, if that helps.
  func woken(allowance: Int, maxThreads: Int) -> (PoolState, WakeAction) {
    if searching > 0 { return (self, .nothing) }
    if active >= allowance { return (self, .saturated) }
    let more = rawValue + Self.oneActive + Self.oneSearching
    if idle > 0 { return (PoolState(rawValue: more - Self.oneIdle), .wakeIdle) }
    if threads >= maxThreads { return (self, .saturated) }
    return (PoolState(rawValue: more + Self.oneThread), .spawn)
  }

  /// Adds a worker whatever the others do: for a class that has waited for long, or for a node that
  /// is passed to the worker.
  func forceWoken(maxThreads: Int) -> (PoolState, WakeAction) {
    let more = rawValue + Self.oneActive + Self.oneSearching
    if idle > 0 { return (PoolState(rawValue: more - Self.oneIdle), .wakeIdle) }
    if threads >= maxThreads { return (self, .saturated) }
    return (PoolState(rawValue: more + Self.oneThread), .spawn)
  }

  /// The thread of a chosen worker could not be made.
  func spawnFailed() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneSearching - Self.oneThread)
  }

  /// An active worker has run out of its own work.
  func searchBegan() -> PoolState { PoolState(rawValue: rawValue + Self.oneSearching) }

  /// A searching worker found work. `isLast`: no worker searches any more.
  func searchEnded() -> (PoolState, isLast: Bool) {
    (PoolState(rawValue: rawValue - Self.oneSearching), searching == 1)
  }

  /// A searching worker found nothing and parks.
  func parked() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneSearching + Self.oneIdle)
  }

  /// A parked worker saw work in its last check and unparked itself.
  func unparked() -> PoolState {
    PoolState(rawValue: rawValue + Self.oneActive + Self.oneSearching - Self.oneIdle)
  }

  /// An active worker parks because more are active than allowed. `nil`: no more are.
  func steppedBack(allowance: Int, isSearching: Bool) -> PoolState? {
    guard active > allowance else { return nil }
    return isSearching
      ? parked() : PoolState(rawValue: rawValue - Self.oneActive + Self.oneIdle)
  }

  /// A parked worker was idle for the keep-alive time; its thread ends.
  func retired() -> PoolState { PoolState(rawValue: rawValue - Self.oneIdle - Self.oneThread) }

  /// An active worker's thread ends.
  func threadEnded() -> PoolState {
    PoolState(rawValue: rawValue - Self.oneActive - Self.oneThread)
  }

  /// An external worker has work, or starts searching for some. `nil`: the allowance is in use.
  func joined(allowance: Int, isSearching: Bool) -> PoolState? {
    if active >= allowance { return nil }
    let more = rawValue + Self.oneActive + Self.oneThread
    return PoolState(rawValue: isSearching ? more + Self.oneSearching : more)
  }

  /// An external worker without work leaves.
  func left(isSearching: Bool) -> PoolState {
    let less = rawValue - Self.oneActive - Self.oneThread
    return PoolState(rawValue: isSearching ? less - Self.oneSearching : less)
  }

  /// An external worker leaves because more are active than allowed. `nil`: not so.
  func steppedOut(allowance: Int) -> PoolState? {
    active > allowance ? PoolState(rawValue: rawValue - Self.oneActive - Self.oneThread) : nil
  }

  /// The item of an active worker sleeps.
  func blocked() -> PoolState { PoolState(rawValue: rawValue - Self.oneActive) }

  /// The item continues. More workers than allowed may be active until one steps back.
  func unblocked() -> PoolState { PoolState(rawValue: rawValue + Self.oneActive) }
}
