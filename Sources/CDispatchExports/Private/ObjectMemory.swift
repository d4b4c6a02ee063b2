// The memory of objects that other libraries make in the manner of this one. Every object begins with its class and
// its reference count, 16 bytes, and the size that is asked for counts them.

private final class ForeignObject: ManagedBuffer<Void, UInt8> {}

// SAFETY: the address of the class, never changed.
private nonisolated(unsafe) let foreignClass = unsafeBitCast(
  ForeignObject.self as AnyClass, to: UnsafeRawPointer.self)

/// Such an object, whose references Swift counts: behind its first 16 bytes all is its maker's. `nil`: one of ours.
private func foreign(_ object: Handle) -> Unmanaged<AnyObject>? {
  let isForeign = object.load(as: UnsafeRawPointer?.self) == foreignClass
  return isForeign ? .fromOpaque(object) : nil
}

/// Makes an object of so many bytes, all zero behind its first 16, with one reference. There is one class.
@c(_os_object_alloc)
public func osObjectAlloc(_ objectClass: UnsafeRawPointer?, _ size: Int) -> Handle {
  let made = ForeignObject.create(minimumCapacity: max(0, size - 16)) { _ in }
  made.withUnsafeMutablePointerToElements { $0.initialize(repeating: 0, count: max(0, size - 16)) }
  return Unmanaged.passRetained(made).toOpaque()
}

@c(_os_object_alloc_realized)
public func osObjectAllocRealized(_ objectClass: UnsafeRawPointer?, _ size: Int) -> Handle {
  osObjectAlloc(objectClass, size)
}

/// Ends an object: drops its last reference.
@c(_os_object_dealloc)
public func osObjectDealloc(_ object: Handle) { osObjectRelease(object) }

// Internal references are no others than the program's.

@c(_os_object_retain)
public func osObjectRetain(_ object: Handle) -> Handle {
  if let foreign = foreign(object) { _ = foreign.retain() } else { dispatchRetain(object) }
  return object
}

@c(_os_object_retain_internal)
public func osObjectRetainInternal(_ object: Handle) -> Handle { osObjectRetain(object) }

@c(_os_object_retain_internal_n)
public func osObjectRetainInternal(_ object: Handle, count: UInt16) -> Handle {
  for _ in 0..<count { _ = osObjectRetain(object) }
  return object
}

@c(_os_object_retain_with_resurrect)
public func osObjectRetainWithResurrect(_ object: Handle) -> Handle { osObjectRetain(object) }

@c(_os_object_release)
public func osObjectRelease(_ object: Handle) {
  if let foreign = foreign(object) { foreign.release() } else { dispatchRelease(object) }
}

@c(_os_object_release_internal)
public func osObjectReleaseInternal(_ object: Handle) { osObjectRelease(object) }

@c(_os_object_release_internal_n)
public func osObjectReleaseInternal(_ object: Handle, count: UInt16) {
  for _ in 0..<count { osObjectRelease(object) }
}
