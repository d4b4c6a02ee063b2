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
    /// Gives up sleeping because a deadline has come.
    case timeOut
    case wake
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
    case .load, .sleep: .read
    case .store, .update: .write
    case .timeOut, .wake, .local: .nothing
    }
  }
  /// What it does to the queue of sleepers.
  var sleepers: Access {
    switch self {
    case .sleep, .timeOut, .wake: .write
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
    guard let location, location == place else { return true }
    return
      !(self.kind.value.conflicts(with: kind.value)
      || self.kind.sleepers.conflicts(with: kind.sleepers))
  }
}
