// dispatch/source.h: creating, cancelling and querying sources.
import CGrandCentralStorage

@inline(__always)
func source(_ handle: Handle?, _ function: StaticString = #function) -> Unmanaged<DispatchSource> {
  object(handle, function)
}

/// Creates an inactive source; NULL for an unknown type, or an invalid handle or mask.
@c(dispatch_source_create)
public func dispatchSourceCreate(
  _ type: UnsafeRawPointer?, _ handle: UInt, _ mask: UInt, _ target: Handle?
) -> Handle? {
  let target = target.map { queue($0).takeUnretainedValue() }
  let number = gc_source_type(UInt32(gc_source_type_number(type)))
  return makeSource(number, handle, mask, target).map { newHandle($0._source) }
}

private func makeSource(
  _ type: gc_source_type, _ handle: UInt, _ mask: UInt, _ target: DispatchQueue?
) -> (any DispatchSourceProtocol)? {
  switch type {
  case GC_SOURCE_DATA_ADD, GC_SOURCE_DATA_OR, GC_SOURCE_DATA_REPLACE:
    guard handle == 0, mask == 0 else { return nil }
    if type == GC_SOURCE_DATA_ADD { return DispatchSource.makeUserDataAddSource(queue: target) }
    if type == GC_SOURCE_DATA_OR { return DispatchSource.makeUserDataOrSource(queue: target) }
    return DispatchSource.makeUserDataReplaceSource(queue: target)
  case GC_SOURCE_TIMER:
    // 1 is strict. 2 asks for the coalescing of background timers; it widens nothing here.
    guard handle == 0, mask & ~3 == 0 else { return nil }
    return DispatchSource.makeTimerSource(
      flags: DispatchSource.TimerFlags(rawValue: mask & 1), queue: target)
  case GC_SOURCE_INTERVAL: return makeIntervalSource(handle, mask, target)
  default: return makeWatch(type, handle, mask, target)
  }
}

/// Creates a source that monitors a descriptor, a signal, a process or memory pressure.
private func makeWatch(
  _ type: gc_source_type, _ handle: UInt, _ mask: UInt, _ target: DispatchQueue?
) -> (any DispatchSourceProtocol)? {
  guard let number = Int32(exactly: handle) else { return nil }
  switch type {
  case GC_SOURCE_READ where mask == 0:
    return DispatchSource.makeReadSource(fileDescriptor: number, queue: target)
  case GC_SOURCE_WRITE where mask == 0:
    return DispatchSource.makeWriteSource(fileDescriptor: number, queue: target)
  case GC_SOURCE_SIGNAL where mask == 0 && 1...64 ~= number:
    return DispatchSource.makeSignalSource(signal: number, queue: target)
  case GC_SOURCE_PROC:
    let events = DispatchSource.ProcessEvent(rawValue: mask)
    guard number > 0, !events.isEmpty, events.isSubset(of: .all) else { return nil }
    return DispatchSource.makeProcessSource(identifier: number, eventMask: events, queue: target)
  case GC_SOURCE_VNODE:
    let events = DispatchSource.FileSystemEvent(rawValue: mask)
    guard !events.isEmpty, events.isSubset(of: .all.union(.funlock)) else { return nil }
    return DispatchSource.makeFileSystemObjectSource(
      fileDescriptor: number, eventMask: events, queue: target)
  case GC_SOURCE_MEMORYPRESSURE:
    let events = DispatchSource.MemoryPressureEvent(rawValue: mask)
    guard number == 0, !events.isEmpty, events.isSubset(of: .all) else { return nil }
    return DispatchSource.makeMemoryPressureSource(eventMask: events, queue: target)
  default: return nil
  }
}

/// Creates a timer that fires every `handle` milliseconds or, with 0x20 in the mask, sixtieths of a
/// second, from now on.
private func makeIntervalSource(
  _ handle: UInt, _ mask: UInt, _ target: DispatchQueue?
) -> (any DispatchSourceProtocol)? {
  guard 1...(365 * 86_400_000) ~= handle, mask & ~0x21 == 0 else { return nil }
  let unit: UInt64 = mask & 0x20 == 0 ? 1_000_000 : 16_666_666
  let timer = DispatchSource.makeTimerSource(queue: target)._source
  let interval = UInt64(handle) * unit
  timer.schedule(
    word: TimeWord.advanced(0, by: Int64(interval)), interval: interval, leeway: interval / 2)
  return timer
}

/// Cancels a source; its cancel handler runs last. Any thread, any number of times.
@c(dispatch_source_cancel)
public func dispatchSourceCancel(_ handle: Handle?) {
  withHold(source(handle)) { $0.cancel() }
}

/// Cancels a source and waits until none of its handlers runs, or will run.
@c(dispatch_source_cancel_and_wait)
public func dispatchSourceCancelAndWait(_ handle: Handle?) {
  withHold(source(handle)) { $0.cancelAndWait() }
}

/// Returns 1 if the source was cancelled, otherwise 0.
@c(dispatch_source_testcancel)
public func dispatchSourceTestCancel(_ handle: Handle?) -> Int {
  source(handle)._withUnsafeGuaranteedRef { $0.isCancelled } ? 1 : 0
}

/// Returns the data of the event that the handler is called for: bytes, counts, bits.
@c(dispatch_source_get_data)
public func dispatchSourceGetData(_ handle: Handle?) -> UInt {
  source(handle)._withUnsafeGuaranteedRef { $0.data }
}

/// Copies the data and a status, which is 0 here, as far as they fit in `size` bytes; returns the
/// bytes copied.
@c(dispatch_source_get_extended_data)
public func dispatchSourceGetExtendedData(
  _ handle: Handle?, _ result: UnsafeMutableRawPointer?, _ size: Int
) -> Int {
  guard let result, size > 0 else { return 0 }
  let words: [UInt] = [source(handle)._withUnsafeGuaranteedRef { $0.data }, 0]
  let count = min(size, 2 * MemoryLayout<UInt>.size)
  words.withUnsafeBytes {
    result.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: count)
  }
  return count
}

/// Returns the handle that the source was created with.
@c(dispatch_source_get_handle)
public func dispatchSourceGetHandle(_ handle: Handle?) -> UInt {
  source(handle)._withUnsafeGuaranteedRef { $0.handle }
}

/// Returns the event mask that the source was created with.
@c(dispatch_source_get_mask)
public func dispatchSourceGetMask(_ handle: Handle?) -> UInt {
  source(handle)._withUnsafeGuaranteedRef { $0.mask }
}

/// Merges a value into a user-data source. Any thread.
@c(dispatch_source_merge_data)
public func dispatchSourceMergeData(_ handle: Handle?, _ value: UInt) {
  withHold(source(handle)) { $0.mergeData(value) }
}

/// Sets a timer's first firing and its interval in nanoseconds; DISPATCH_TIME_FOREVER fires once.
@c(dispatch_source_set_timer)
public func dispatchSourceSetTimer(
  _ handle: Handle?, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64
) {
  let isOnce = interval >= UInt64(Int64.max)
  // The wall clock's "now" as a time of that clock, which later firings follow.
  let start = start == TimeWord.wallNow ? dispatchWallTime(nil, 0) : start
  withHold(source(handle)) {
    $0.schedule(
      word: start, interval: isOnce ? 0 : max(1, interval), leeway: min(leeway, UInt64(Int64.max)))
  }
}
