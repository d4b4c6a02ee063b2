// Room: ModelChecker/Ordering. The memory orderings of the standard library, under their own names.
// They are values, not literals: the checker reads and can weaken them at run time.

/// The effect of an ordering, as bits.
@usableFromInline
struct Ordering: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8
  @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }
  static let acquires = Ordering(rawValue: 1)
  @usableFromInline static let releases = Ordering(rawValue: 2)
  static let isSequential = Ordering(rawValue: 4)
  static let relaxed: Ordering = []
  static let both: Ordering = [.acquires, .releases]
  static let sequential: Ordering = [.acquires, .releases, .isSequential]
}

/// The ordering of a load.
public struct AtomicLoadOrdering: Sendable {
  @usableFromInline let order: Ordering
  private init(_ order: Ordering) { self.order = order }
  public static var relaxed: Self { Self(.relaxed) }
  public static var acquiring: Self { Self(.acquires) }
  public static var sequentiallyConsistent: Self { Self(.sequential) }
}

/// The ordering of a store.
public struct AtomicStoreOrdering: Sendable {
  @usableFromInline let order: Ordering
  private init(_ order: Ordering) { self.order = order }
  public static var relaxed: Self { Self(.relaxed) }
  public static var releasing: Self { Self(.releases) }
  public static var sequentiallyConsistent: Self { Self(.sequential) }
}

/// The ordering of a read-modify-write.
public struct AtomicUpdateOrdering: Sendable {
  @usableFromInline let order: Ordering
  private init(_ order: Ordering) { self.order = order }
  public static var relaxed: Self { Self(.relaxed) }
  public static var acquiring: Self { Self(.acquires) }
  public static var releasing: Self { Self(.releases) }
  public static var acquiringAndReleasing: Self { Self(.both) }
  public static var sequentiallyConsistent: Self { Self(.sequential) }
}
