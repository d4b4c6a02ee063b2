// Room: ModelChecker/Step. What a thread is about to do that another thread could notice.
// Between two steps a thread runs undisturbed: what it does there is its own, or is plain memory, whose
// races show in the clocks whatever the schedule.

struct Step {
  enum Kind: UInt8 {
    case load
    case store
    /// Reads and writes in one: exchanges, additions.
    case update
    /// Compares a word and goes to sleep on it, futex(2).
    case sleep
    /// The same with a deadline, which is compared with the clock.
    case sleepUntil
    /// Goes on after a sleep that a deadline may end, to which it then moves the clock. It is the same step for
    /// the search if a wake-up came before: what steps depend on must not depend on steps that commute.
    case timeOut
    case wake
    /// Reads the clock.
    case clock
    /// Goes on after a wake-up, or with a choice of its own: nobody else can notice.
    case local
  }

  var kind: Kind
  var location: UnsafeMutablePointer<Location>?
  var site: Site
}

extension Step.Kind {
  /// What it may do to the word's value.
  var value: Access {
    switch self {
    case .load, .sleep, .sleepUntil: .read
    case .store, .update: .write
    case .timeOut, .wake, .clock, .local: .nothing
    }
  }
  /// What it does to the queue of sleepers.
  var sleepers: Access {
    switch self {
    case .sleep, .sleepUntil, .timeOut, .wake: .write
    default: .nothing
    }
  }
  /// What it does to the clock. Two that move it commute: the later deadline stays.
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
  /// Whether the two, of different threads, may be swapped without anybody noticing.
  @inline(__always)
  func isIndependent(of kind: Kind, _ place: UnsafeMutablePointer<Location>?) -> Bool {
    let (own, others) = (self.kind.clock, kind.clock)
    if own != others && own != .nothing && others != .nothing { return false }
    guard let location else { return true }
    // What is gone conflicts with every use of it: its end was part of the other's step, or of one before.
    if !location.pointee.isAlive { return false }
    guard location == place else { return true }
    return
      !(self.kind.value.conflicts(with: kind.value)
      || self.kind.sleepers.conflicts(with: kind.sleepers))
  }
}
