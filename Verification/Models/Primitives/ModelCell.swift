// Room: Primitives/Cell, the models' side. Watches memory that is not a property.

@inlinable @inline(__always)
public func willRead(
  _ address: UnsafeRawPointer, file: StaticString = #fileID, line: UInt32 = #line
) {
  PlainMemory.willRead(address, Site(file, line))
}

@inlinable @inline(__always)
public func willWrite(
  _ address: UnsafeRawPointer, file: StaticString = #fileID, line: UInt32 = #line
) {
  PlainMemory.willWrite(address, Site(file, line))
}
