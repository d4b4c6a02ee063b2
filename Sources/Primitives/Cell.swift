// Room: Primitives/Cell. Plain memory that threads share under a protocol: a lock, a state word, a hand-over.
// The name is a promise that the protocol orders every two accesses of which one writes. Here it is a stored
// property and nothing else; the model checker's side of the same name watches for races.

/// A stored property that several threads use in turn.
@propertyWrapper @frozen
public struct Cell<Value> {
  public var wrappedValue: Value

  @inlinable @inline(__always)
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// The value for whoever holds the last reference to its owner, as a deinit does: reference counting
  /// orders that access after all others.
  @inlinable @inline(__always)
  public var projectedValue: Value { wrappedValue }
}

/// The same promise for memory that is no property. `address` names all of what has one owner at a time.
@inlinable @inline(__always)
public func willRead(_ address: UnsafeRawPointer) {}

@inlinable @inline(__always)
public func willWrite(_ address: UnsafeRawPointer) {}
