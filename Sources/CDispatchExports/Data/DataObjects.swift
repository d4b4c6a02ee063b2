// dispatch/data.h: immutable data objects. Empty data is always the same object, so programs may
// compare with it.
import CGrandCentralStorage

/// Returns the data at an address.
func data(_ handle: Handle?, _ function: StaticString = #function) -> DispatchData {
  if handle == gc_data_empty_address() { return .empty }
  let object: Unmanaged<DataObject> = object(handle, function)
  return object._withUnsafeGuaranteedRef { $0.data }
}

/// Returns a new object, with the reference that the program gets.
func newHandle(_ data: DispatchData) -> Handle {
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
  guard let destructor else { return newHandle(DispatchData(bytes: bytes)) }
  return newHandle(DispatchData(bytesNoCopy: bytes, deallocator: deallocator(destructor, target)))
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
  case _dispatch_data_destructor_none: return .custom(nil, {})
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
  guard let destructor else { return newHandle(DispatchData(bytes: bytes)) }
  let target = target.map { queue($0).takeUnretainedValue() }
  return newHandle(
    DispatchData(bytesNoCopy: bytes, deallocator: .custom(target, { destructor(buffer) })))
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
  return newHandle(data)
}

/// Returns the number of bytes.
@c(dispatch_data_get_size)
public func dispatchDataGetSize(_ handle: Handle?) -> Int { data(handle).count }

/// Returns the same bytes contiguously, and their address, which is valid while the result lives.
@c(dispatch_data_create_map)
public func dispatchDataCreateMap(
  _ handle: Handle?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ size: UnsafeMutablePointer<Int>?
) -> Handle {
  let (flat, start) = data(handle).contiguous
  buffer?.pointee = start.map { UnsafeRawPointer($0) }
  size?.pointee = flat.count
  return newHandle(flat)
}

/// Concatenates two objects, which share their bytes.
@c(dispatch_data_create_concat)
public func dispatchDataCreateConcat(_ first: Handle?, _ second: Handle?) -> Handle {
  var joined = data(first)
  let added = data(second)
  if added.isEmpty, let first { return retained(first) }
  if joined.isEmpty, let second { return retained(second) }
  joined.append(added)
  return newHandle(joined)
}

private func retained(_ handle: Handle) -> Handle {
  dispatchRetain(handle)
  return handle
}

/// Returns at most `length` bytes from `offset`, which are shared.
@c(dispatch_data_create_subrange)
public func dispatchDataCreateSubrange(_ handle: Handle?, _ offset: Int, _ length: Int) -> Handle {
  let whole = data(handle)
  // Both are unsigned in C.
  guard offset >= 0, offset < whole.count, length != 0 else { return gc_data_empty_address() }
  let left = whole.count - offset
  let count = length < 0 ? left : min(length, left)
  if let handle, count == whole.count { return retained(handle) }
  return newHandle(whole.subdata(in: offset..<offset + count))
}

/// Returns the contiguous region that contains the byte at `location`, and its offset.
@c(dispatch_data_copy_region)
public func dispatchDataCopyRegion(
  _ handle: Handle?, _ location: Int, _ offset: UnsafeMutablePointer<Int>?
) -> Handle {
  let whole = data(handle)
  guard location >= 0, location < whole.count else {
    offset?.pointee = whole.count
    return gc_data_empty_address()
  }
  let region = whole.region(location: location)
  offset?.pointee = region.offset
  return newHandle(region.data)
}

private typealias Applier =
  @convention(c) (UnsafeMutableRawPointer, Handle, Int, UnsafeRawPointer?, Int) -> Bool

/// Calls a block with each contiguous region until it returns false. Returns whether all were
/// visited.
@c(dispatch_data_apply)
public func dispatchDataApply(_ handle: Handle?, _ block: UnsafeMutableRawPointer) -> Bool {
  let invoke = Block(block).invoke(as: Applier.self)
  return data(handle).forEachRegionValue { region, offset, bytes in
    withHandle(region) { invoke(block, $0, offset, bytes.baseAddress, bytes.count) }
  }
}

/// Calls a function with each contiguous region until it returns false. Returns whether all were
/// visited.
@c(dispatch_data_apply_f)
public func dispatchDataApplyFunction(
  _ handle: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @convention(c) (UnsafeMutableRawPointer?, Handle, Int, UnsafeRawPointer?, Int) -> Bool
) -> Bool {
  data(handle).forEachRegionValue { region, offset, bytes in
    withHandle(region) { work(context, $0, offset, bytes.baseAddress, bytes.count) }
  }
}
