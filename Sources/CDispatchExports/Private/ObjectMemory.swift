// Objects that other libraries create with this library's allocator. Every object starts with its
// class and its reference count, 16 bytes, which are part of the requested size.

private final class ForeignObject: ManagedBuffer<Void, UInt8> {}

private enum ForeignClass {
  /// The address of the class after the first object was created; 0 before.
  static let address = Atomic<UInt>(0)
}

/// Returns such an object. Swift counts its references; the bytes behind the first 16 belong to its
/// creator. `nil`: an engine object, or NULL.
private func foreign(_ object: Handle?) -> Unmanaged<AnyObject>? {
  // relaxed: the creation of an object happens before any use of it by a thread that holds it.
  let known = ForeignClass.address.load(ordering: .relaxed)
  guard let object, known != 0, object.load(as: UInt.self) == known else { return nil }
  return .fromOpaque(object)
}

/// Creates an object of `size` bytes with one reference; the bytes behind the first 16 are zero.
/// All these objects have one class. The functions whose names begin with _os_object count its
/// references.
@c(_os_object_alloc)
public func osObjectAlloc(_ objectClass: UnsafeRawPointer?, _ size: Int) -> Handle {
  // At least the bytes that dispatch_retain() accesses in an engine object: if a program passes
  // this object by mistake, no other memory is overwritten.
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

/// Ends an object by dropping its last reference.
@c(_os_object_dealloc)
public func osObjectDealloc(_ object: Handle?) { osObjectRelease(object) }

// Internal references are the same as the program's.

/// Adds a reference to an engine object or to one of these objects.
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

/// Drops a reference to an engine object or to one of these objects.
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
