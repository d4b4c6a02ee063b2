// The memory of objects that other libraries make in the manner of this one. Every object begins with its class and
// its reference count, 16 bytes, and the size that is asked for counts them.

private final class ForeignObject: ManagedBuffer<Void, UInt8> {}

private enum ForeignClass {
  /// Its address, once there is an object of it; 0 before.
  static let address = Atomic<UInt>(0)
}

/// Such an object, whose references Swift counts: behind its first 16 bytes all is its maker's. `nil`: one of ours, or
/// none at all.
private func foreign(_ object: Handle?) -> Unmanaged<AnyObject>? {
  // relaxed: who has such an object has its making behind it.
  let known = ForeignClass.address.load(ordering: .relaxed)
  guard let object, known != 0, object.load(as: UInt.self) == known else { return nil }
  return .fromOpaque(object)
}

/// Makes an object of so many bytes, all zero behind its first 16, with one reference. There is one class. The functions
/// for references to such an object are those whose names begin with _os_object.
@c(_os_object_alloc)
public func osObjectAlloc(_ objectClass: UnsafeRawPointer?, _ size: Int) -> Handle {
  // At least what dispatch_retain() would take for its own: memory of others is not to pay for that mistake.
  let count = max(16, size - 16)
  let made = ForeignObject.create(minimumCapacity: count) { _ in }
  made.withUnsafeMutablePointerToElements { $0.initialize(repeating: 0, count: count) }
  let handle = Unmanaged.passRetained(made).toOpaque()
  ForeignClass.address.store(handle.load(as: UInt.self), ordering: .relaxed)
  return handle
}

@c(_os_object_alloc_realized)
public func osObjectAllocRealized(_ objectClass: UnsafeRawPointer?, _ size: Int) -> Handle {
  osObjectAlloc(objectClass, size)
}

/// Ends an object: drops its last reference.
@c(_os_object_dealloc)
public func osObjectDealloc(_ object: Handle?) { osObjectRelease(object) }

// Internal references are no others than the program's.

@c(_os_object_retain)
public func osObjectRetain(_ object: Handle?) -> Handle? {
  if let foreign = foreign(object) { _ = foreign.retain() } else { dispatchRetain(object) }
  return object
}

@c(_os_object_retain_internal)
public func osObjectRetainInternal(_ object: Handle?) -> Handle? { osObjectRetain(object) }

@c(_os_object_retain_internal_n)
public func osObjectRetainInternal(_ object: Handle?, count: UInt16) -> Handle? {
  for _ in 0..<count { _ = osObjectRetain(object) }
  return object
}

@c(_os_object_retain_with_resurrect)
public func osObjectRetainWithResurrect(_ object: Handle?) -> Handle? { osObjectRetain(object) }

@c(_os_object_release)
public func osObjectRelease(_ object: Handle?) {
  if let foreign = foreign(object) { foreign.release() } else { dispatchRelease(object) }
}

@c(_os_object_release_internal)
public func osObjectReleaseInternal(_ object: Handle?) { osObjectRelease(object) }

@c(_os_object_release_internal_n)
public func osObjectReleaseInternal(_ object: Handle?, count: UInt16) {
  for _ in 0..<count { osObjectRelease(object) }
}
