// Room: ModelChecker/Mutation. Deliberate faults in the checked program. The source stays
// unchanged; the checker changes the effect of one site.

/// A fault, and the site at which the checker inserts it.
public struct Mutation: Sendable {
  /// What the fault changes.
  public enum Change: Sendable, Equatable {
    /// The operation orders nothing.
    case relaxes
    /// The operation no longer acquires, or no longer releases. A sequentially consistent one keeps
    /// the other half.
    case dropsAcquire
    case dropsRelease
    /// It acquires and releases, but is not part of the single order.
    case dropsSequential
    /// A store, exchange, addition, wake-up or system call does not happen. An exchange still
    /// reports success.
    case skips
    /// A read-modify-write becomes a load and a store, between which other threads can run.
    case splits
    /// A compare-exchange does not compare.
    case isBlind
    /// The written value lacks these bits.
    case clears(bits: UInt64)
    /// The written value has these bits set.
    case sets(bits: UInt64)
    /// A load, or a read of a cell, returns this value.
    case returns(UInt64)
    /// A sleep does not compare the word first.
    case sleepsBlindly
    /// A sleep ignores its deadline.
    case oversleeps
    /// A wake-up wakes at most one thread.
    case wakesOne
  }

  public let file: String
  public let line: UInt32
  public let change: Change

  /// The fault is at `line` of the file whose path ends in `file`.
  public init(_ change: Change, file: String, line: UInt32) {
    self.file = file
    self.line = line
    self.change = change
  }
}

/// The mutations of an execution, found by site.
struct MutationTable {
  private let mutations: [Mutation]
  let isEmpty: Bool

  init(_ mutations: [Mutation]) {
    self.mutations = mutations
    isEmpty = mutations.isEmpty
  }

  func change(at site: Site) -> Mutation.Change? {
    for mutation in mutations
    where mutation.line == site.line && isFile(site.file.description, mutation.file) {
      return mutation.change
    }
    return nil
  }

  /// Whether `path` ends in `file`, at a whole path component.
  private func isFile(_ path: String, _ file: String) -> Bool {
    path == file || path.hasSuffix("/" + file)
  }
}

extension Ordering {
  func changed(by change: Mutation.Change?) -> Ordering {
    switch change {
    case .relaxes: .relaxed
    case .dropsAcquire: subtracting([.acquires, .isSequential])
    case .dropsRelease: subtracting([.releases, .isSequential])
    case .dropsSequential: subtracting(.isSequential)
    default: self
    }
  }
}

extension Mutation.Change {
  func written(_ value: UInt64) -> UInt64 {
    switch self {
    case .clears(let bits): value & ~bits
    case .sets(let bits): value | bits
    default: value
    }
  }
}
