// Room: Primitives/Cell. Plain memory that threads share under a protocol: a lock, a state word, a
// hand-off.
// Invariant: the protocol orders every two accesses of which one writes. Here a Cell is a stored
// property; in the models the same name watches for data races.

public import CGrandCentralLinux

/// A stored property that several threads access one at a time.
@propertyWrapper @frozen
public struct Cell<Value> {
  public var wrappedValue: Value

  @inlinable @inline(__always)
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// The value, for the thread that drops the last reference to the owner, as in a deinit.
  /// Reference counting orders that access after all others.
  @inlinable @inline(__always)
  public var projectedValue: Value { wrappedValue }
}

/// Declares a read of memory that is not a property, with the same invariant. `address` stands for
/// all memory that has one owner at a time.
@inlinable @inline(__always)
public func willRead(_ address: UnsafeRawPointer) {}

/// Declares a write of such memory.
@inlinable @inline(__always)
public func willWrite(_ address: UnsafeRawPointer) {}

/// Fetches the cache line of memory that the thread is about to read, and to write soon after. If
/// another core has written it, the line then moves once; a read alone would leave it with both
/// cores, and the write would have to fetch it again.
@inlinable @inline(__always)
public func fetchForWriting(_ address: UnsafeRawPointer) { gc_will_write(address) }
