// Room: Primitives/Cell, the simulation's side. A cell is plain memory without a cost; a node of
// work is a cache line, which moves between cores like any other.

@propertyWrapper @frozen
public struct Cell<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public var projectedValue: Value { wrappedValue }
}

public func willRead(
  _ address: UnsafeRawPointer, file: StaticString = #fileID, line: UInt32 = #line
) {
  Machine.current.access(address, .load, Site(file, line))
}

public func willWrite(
  _ address: UnsafeRawPointer, file: StaticString = #fileID, line: UInt32 = #line
) {
  Machine.current.access(address, .store, Site(file, line))
}
