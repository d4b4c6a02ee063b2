// Room: ModelChecker/Step. A pending operation of a thread that another thread could observe.
// Between two steps a thread runs undisturbed: its code there touches its own memory or plain
// memory, and the vector clocks show races on plain memory in every schedule.

struct Step {
  enum Kind: UInt8 {
    case load
    case store
    /// A read-modify-write: an exchange or an addition.
    case update
    /// Compares a word and sleeps on it, futex(2).
    case sleep
    /// The same with a deadline, which is compared with the clock.
    case sleepUntil
    /// Continues after a sleep that a deadline may end; the deadline then moves the clock. The step
    /// is the same for the search if a wake-up came before, because the dependencies of a step must
    /// not depend on steps that commute with it.
    case timeOut
    case wake
    /// Reads the clock.
    case clock
    /// Continues after a wake-up, or makes a choice of its own. No other thread can observe it.
    case local
  }

  var kind: Kind
  var location: UnsafeMutablePointer<Location>?
  var site: Site
}

extension Step.Kind {
  /// Its effect on the word's value.
  var value: Access {
    switch self {
    case .load, .sleep, .sleepUntil: .read
    case .store, .update: .write
    case .timeOut, .wake, .clock, .local: .nothing
    }
  }
  /// Its effect on the queue of sleepers.
  var sleepers: Access {
    switch self {
    case .sleep, .sleepUntil, .timeOut, .wake: .write
    default: .nothing
    }
  }
  /// Its effect on the clock. Two steps that move it commute: the later deadline remains.
  var clock: Access {
    switch self {
    case .clock, .sleepUntil: .read
    case .timeOut: .write
    default: .nothing
    }
  }
}

enum Access: UInt8 {
  case nothing
  case read
  case write

  func conflicts(with other: Access) -> Bool {
    self != .nothing && other != .nothing && (self == .write || other == .write)
  }
}

extension Step {
  /// Whether two steps of different threads can be swapped without an observable difference.
  @inline(__always)
  func isIndependent(of kind: Kind, _ place: UnsafeMutablePointer<Location>?) -> Bool {
    let (own, others) = (self.kind.clock, kind.clock)
    if own != others && own != .nothing && others != .nothing { return false }
    guard let location else { return true }
    // An ended location conflicts with every use of it: its end was part of the other step, or of
    // an earlier one.
    if !location.pointee.isAlive { return false }
    guard location == place else { return true }
    return
      !(self.kind.value.conflicts(with: kind.value)
      || self.kind.sleepers.conflicts(with: kind.sleepers))
  }
}
