// dispatch/data.h: immutable data objects. Empty data is always the same object, so programs may
// compare with it.
import CGrandCentralStorage

/// Returns the object at an address. That of the empty data has zeros where an object has its data:
/// no owner, no address, no bytes. So it is read, but not retained.
private func dataObject(
  _ handle: Handle?, _ function: StaticString = #function
) -> Unmanaged<DataObject> {
  object(handle, function)
}

/// Returns the data at an address.
func data(_ handle: Handle?, _ function: StaticString = #function) -> DispatchData {
  dataObject(handle, function)._withUnsafeGuaranteedRef { $0.data }
}

/// Returns an object that holds `data`, with a reference that the program gets: a new one, unless
/// the data is a piece that has an object.
func newHandle(_ data: DispatchData) -> Handle {
  data.isEmpty ? gc_data_empty_address() : DataObject.held(data).toOpaque()
}

/// The same for bytes without an object so far.
private func newHandle(ofNew data: DispatchData) -> Handle {
  data.isEmpty ? gc_data_empty_address() : newHandle(DataObject(data))
}

/// Calls `body` with an object that lives until it returns.
func withHandle<Result>(_ data: DispatchData, _ body: (Handle) -> Result) -> Result {
  let handle = newHandle(data)
  defer { dispatchRelease(handle) }
  return body(handle)
}

/// Creates data of `size` bytes. Without a destructor the bytes are copied. Otherwise the
/// destructor is called, or its predefined action performed, when the last of them is no longer
/// needed.
@c(dispatch_data_create)
public func dispatchDataCreate(
  _ buffer: UnsafeRawPointer?, _ size: Int, _ target: Handle?,
  _ destructor: UnsafeMutableRawPointer?
) -> Handle {
  let bytes = bytes(buffer, size, "dispatch_data_create()")
  guard let destructor else { return newHandle(ofNew: DispatchData(bytes: bytes)) }
  if UnsafeRawPointer(destructor) == _dispatch_data_destructor_none {
    return newHandle(ofNew: DispatchData(unfreed: bytes))
  }
  let deallocator = deallocator(destructor, target)
  return newHandle(ofNew: DispatchData(bytesNoCopy: bytes, deallocator: deallocator))
}

/// Returns the client's memory as a buffer. C's sizes are unsigned, so a negative one is too large.
private func bytes(
  _ buffer: UnsafeRawPointer?, _ size: Int, _ function: StaticString
) -> UnsafeRawBufferPointer {
  guard let buffer else { return UnsafeRawBufferPointer(start: nil, count: 0) }
  require(
    size >= 0,
    "\(function) of \(UInt(bitPattern: size)) bytes. Pass the buffer's size, at most \(Int.max).")
  return UnsafeRawBufferPointer(start: buffer, count: size)
}

private func deallocator(
  _ destructor: UnsafeMutableRawPointer, _ target: Handle?
) -> DispatchData.Deallocator {
  switch UnsafeRawPointer(destructor) {
  case _dispatch_data_destructor_free: return .free
  case _dispatch_data_destructor_munmap: return .unmap
  default:
    let held = HeldBlock(destructor)
    return .custom(target.map { queue($0).takeUnretainedValue() }, { held.call() })
  }
}

/// Creates data from bytes without a copy; the function gets their address when they are no longer
/// needed.
@c(dispatch_data_create_f)
public func dispatchDataCreateFunction(
  _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ target: Handle?,
  _ destructor: ClientFunction?
) -> Handle {
  let bytes = bytes(buffer, size, "dispatch_data_create_f()")
  guard let destructor else { return newHandle(ofNew: DispatchData(bytes: bytes)) }
  let target = target.map { queue($0).takeUnretainedValue() }
  return newHandle(
    ofNew: DispatchData(bytesNoCopy: bytes, deallocator: .custom(target, { destructor(buffer) })))
}

/// Creates data of bytes that the caller writes before it shares the object.
@c(dispatch_data_create_alloc)
public func dispatchDataCreateAlloc(
  _ size: Int, _ buffer: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Handle {
  buffer?.pointee = nil
  if size <= 0 { return gc_data_empty_address() }
  let (data, start) = DispatchData.unset(count: size)
  buffer?.pointee = UnsafeMutableRawPointer(start)
  return newHandle(ofNew: data)
}

/// Returns the number of bytes.
@c(dispatch_data_get_size)
public func dispatchDataGetSize(_ handle: Handle?) -> Int {
  dataObject(handle)._withUnsafeGuaranteedRef { $0.data.count }
}

/// Returns the same bytes contiguously, and their address, which is valid while the result lives.
@c(dispatch_data_create_map)
public func dispatchDataCreateMap(
  _ handle: Handle?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ size: UnsafeMutablePointer<Int>?
) -> Handle {
  let object = dataObject(handle)
  size?.pointee = object._withUnsafeGuaranteedRef { $0.data.count }
  if object._withUnsafeGuaranteedRef({ $0.data.isContiguous }) {
    buffer?.pointee = object._withUnsafeGuaranteedRef { UnsafeRawPointer($0.data.start) }
    return retained(object.toOpaque())
  }
  let flat = object._withUnsafeGuaranteedRef { $0.data.flattened }
  buffer?.pointee = UnsafeRawPointer(flat.start)
  return newHandle(ofNew: flat)
}

private func retained(_ handle: Handle) -> Handle {
  dispatchRetain(handle)
  return handle
}

/// Concatenates two objects, which share their bytes.
@c(dispatch_data_create_concat)
public func dispatchDataCreateConcat(_ first: Handle?, _ second: Handle?) -> Handle {
  let (left, right) = (dataObject(first), dataObject(second))
  if right._withUnsafeGuaranteedRef({ $0.data.isEmpty }) { return retained(left.toOpaque()) }
  if left._withUnsafeGuaranteedRef({ $0.data.isEmpty }) { return retained(right.toOpaque()) }
  return left._withUnsafeGuaranteedRef { left in
    newHandle(right._withUnsafeGuaranteedRef { DataObject.joining(left, $0) })
  }
}

/// Returns at most `length` bytes from `offset`, which are shared.
@c(dispatch_data_create_subrange)
public func dispatchDataCreateSubrange(_ handle: Handle?, _ offset: Int, _ length: Int) -> Handle {
  let object = dataObject(handle)
  let bytes = object._withUnsafeGuaranteedRef { $0.data.count }
  // Both are unsigned in C.
  guard offset >= 0, offset < bytes, length != 0 else { return gc_data_empty_address() }
  let left = bytes - offset
  let count = length < 0 ? left : min(length, left)
  if count == bytes { return retained(object.toOpaque()) }
  return object._withUnsafeGuaranteedRef { $0.held(offset..<offset + count) }.toOpaque()
}

/// Returns the contiguous region that contains the byte at `location`, and its offset.
@c(dispatch_data_copy_region)
public func dispatchDataCopyRegion(
  _ handle: Handle?, _ location: Int, _ offset: UnsafeMutablePointer<Int>?
) -> Handle {
  let object = dataObject(handle)
  let count = object._withUnsafeGuaranteedRef { $0.data.count }
  guard location >= 0, location < count else {
    offset?.pointee = count
    return gc_data_empty_address()
  }
  if object._withUnsafeGuaranteedRef({ $0.data.isContiguous }) {
    offset?.pointee = 0
    return retained(object.toOpaque())
  }
  let region = object._withUnsafeGuaranteedRef { $0.heldRegion(at: location) }
  offset?.pointee = region.offset
  return region.object.toOpaque()
}

/// Calls a block with each contiguous region until it returns false. Returns whether all were
/// visited.
@c(dispatch_data_apply)
public func dispatchDataApply(_ handle: Handle?, _ block: UnsafeMutableRawPointer) -> Bool {
  // A block's code is a function whose context is the block.
  let work = Block(block).invoke(as: DataObject.RegionFunction.self)
  return dataObject(handle)._withUnsafeGuaranteedRef { $0.forEachRegion(block, work) }
}

/// Calls a function with each contiguous region until it returns false. Returns whether all were
/// visited.
@c(dispatch_data_apply_f)
public func dispatchDataApplyFunction(
  _ handle: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @convention(c) (UnsafeMutableRawPointer?, Handle, Int, UnsafeRawPointer?, Int) -> Bool
) -> Bool {
  dataObject(handle)._withUnsafeGuaranteedRef { $0.forEachRegion(context, work) }
}
