// Room: ModelChecker/Mutation. Deliberate faults, put into the checked program from outside: the source stays
// as it is, and the checker does something else at one place of it.

public struct Mutation: Sendable {
  public enum Change: Sendable, Equatable {
    /// The operation orders nothing.
    case relaxes
    /// It no longer acquires, or no longer releases; a sequentially consistent one keeps the other half.
    case dropsAcquire
    case dropsRelease
    /// It acquires and releases, but has no place in the single order.
    case dropsSequential
    /// A store, exchange, addition, wake-up or system call does not happen. An exchange says that it did.
    case skips
    /// A read-modify-write is a load and a store, with room between them for other threads.
    case splits
    /// A compare-exchange does not compare.
    case isBlind
    /// What is written lacks these bits.
    case clears(bits: UInt64)
    /// What is written has these bits as well.
    case sets(bits: UInt64)
    /// A load, or a reading of a cell, returns this, whatever is there.
    case returns(UInt64)
    /// A sleep does not compare the word first.
    case sleepsBlindly
    /// A wake-up wakes one at most.
    case wakesOne
  }

  public let file: String
  public let line: UInt32
  public let change: Change

  /// At `line` of the file whose path ends in `file`.
  public init(_ change: Change, file: String, line: UInt32) {
    self.file = file
    self.line = line
    self.change = change
  }
}

/// The mutations of an execution, found by place.
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

  /// Whether whole names at the end of `path` are those of `file`.
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
