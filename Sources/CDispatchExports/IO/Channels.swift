// dispatch/io.h: channels.
public import CGrandCentralLinux

private func channel(_ handle: Handle?, _ function: StaticString = #function) -> DispatchIO {
  let object: Unmanaged<DispatchIO> = object(handle, function)
  return object.takeUnretainedValue()
}

private func streamType(_ type: UInt) -> DispatchIO.StreamType? {
  DispatchIO.StreamType(rawValue: type)
}

// MARK: Creating

private func make(
  _ type: UInt, _ descriptor: Int32, _ target: Handle?, _ cleanup: ClientHandler
) -> Handle? {
  guard let type = streamType(type) else { return nil }
  return newHandle(
    DispatchIO(type: type, fileDescriptor: descriptor, queue: queueOrDefault(target)) {
      cleanup($0)
    })
}

/// Creates a channel for a descriptor; NULL for an unknown type.
@c(dispatch_io_create)
public func dispatchIOCreate(
  _ type: UInt, _ descriptor: Int32, _ target: Handle?, _ cleanup: UnsafeMutableRawPointer?
) -> Handle? {
  make(type, descriptor, target, .orNone(cleanup))
}

@c(dispatch_io_create_f)
public func dispatchIOCreateFunction(
  _ type: UInt, _ descriptor: Int32, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ cleanup: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
) -> Handle? {
  make(type, descriptor, target, ClientHandler(cleanup, context))
}

private func make(
  _ type: UInt, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t, _ target: Handle?,
  _ cleanup: ClientHandler
) -> Handle? {
  guard let type = streamType(type) else { return nil }
  return DispatchIO(
    type: type, path: path, oflag: flags, mode: mode, queue: queueOrDefault(target),
    cleanupHandler: { cleanup($0) }
  ).map { newHandle($0) }
}

/// Creates a channel for a file; NULL for an unknown type or a path that is not absolute.
@c(dispatch_io_create_with_path)
public func dispatchIOCreateWithPath(
  _ type: UInt, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t, _ target: Handle?,
  _ cleanup: UnsafeMutableRawPointer?
) -> Handle? {
  make(type, path, flags, mode, target, .orNone(cleanup))
}

@c(dispatch_io_create_with_path_f)
public func dispatchIOCreateWithPathFunction(
  _ type: UInt, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t, _ target: Handle?,
  _ context: UnsafeMutableRawPointer?,
  _ cleanup: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
) -> Handle? {
  make(type, path, flags, mode, target, ClientHandler(cleanup, context))
}

private func make(
  _ type: UInt, _ other: Handle?, _ target: Handle?, _ cleanup: ClientHandler
) -> Handle? {
  guard let type = streamType(type) else { return nil }
  return newHandle(
    DispatchIO(type: type, io: channel(other), queue: queueOrDefault(target)) { cleanup($0) })
}

/// Creates a channel for another channel's descriptor or file; NULL for an unknown type.
@c(dispatch_io_create_with_io)
public func dispatchIOCreateWithIO(
  _ type: UInt, _ other: Handle?, _ target: Handle?, _ cleanup: UnsafeMutableRawPointer?
) -> Handle? {
  make(type, other, target, .orNone(cleanup))
}

@c(dispatch_io_create_with_io_f)
public func dispatchIOCreateWithIOFunction(
  _ type: UInt, _ other: Handle?, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ cleanup: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
) -> Handle? {
  make(type, other, target, ClientHandler(cleanup, context))
}

extension ClientHandler {
  /// Wraps a block that may be NULL.
  fileprivate static func orNone(_ block: UnsafeMutableRawPointer?) -> ClientHandler {
    if let block { return ClientHandler(block) }
    let nothing: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void = { _, _ in }
    return ClientHandler(nothing, nil)
  }
}

// MARK: Operations

private func read(
  _ handle: Handle?, _ offset: Int, _ length: Int, _ target: Handle?, _ handler: ClientHandler
) {
  channel(handle).read(offset: off_t(offset), length: length, queue: queueOrDefault(target)) {
    handler($0, $1, $2)
  }
}

/// Reads; the block gets (done, data, error).
@c(dispatch_io_read)
public func dispatchIORead(
  _ handle: Handle?, _ offset: Int, _ length: Int, _ target: Handle?,
  _ block: UnsafeMutableRawPointer
) {
  read(handle, offset, length, target, ClientHandler(block))
}

@c(dispatch_io_read_f)
public func dispatchIOReadFunction(
  _ handle: Handle?, _ offset: Int, _ length: Int, _ target: Handle?,
  _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @convention(c) (UnsafeMutableRawPointer?, Bool, Handle?, Int32) -> Void
) {
  read(handle, offset, length, target, ClientHandler(work, context))
}

private func write(
  _ handle: Handle?, _ offset: Int, _ bytes: Handle?, _ target: Handle?, _ handler: ClientHandler
) {
  channel(handle).write(offset: off_t(offset), data: data(bytes), queue: queueOrDefault(target)) {
    handler($0, $1, $2)
  }
}

/// Writes; the block gets (done, data not yet written, error).
@c(dispatch_io_write)
public func dispatchIOWrite(
  _ handle: Handle?, _ offset: Int, _ bytes: Handle?, _ target: Handle?,
  _ block: UnsafeMutableRawPointer
) {
  write(handle, offset, bytes, target, ClientHandler(block))
}

@c(dispatch_io_write_f)
public func dispatchIOWriteFunction(
  _ handle: Handle?, _ offset: Int, _ bytes: Handle?, _ target: Handle?,
  _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @convention(c) (UnsafeMutableRawPointer?, Bool, Handle?, Int32) -> Void
) {
  write(handle, offset, bytes, target, ClientHandler(work, context))
}

/// Runs a block after all earlier operations and before all later ones.
@c(dispatch_io_barrier)
public func dispatchIOBarrier(_ handle: Handle?, _ block: UnsafeMutableRawPointer) {
  let handler = ClientHandler(block)
  channel(handle).barrier { handler() }
}

@c(dispatch_io_barrier_f)
public func dispatchIOBarrierFunction(
  _ handle: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  channel(handle).barrier { work(context) }
}

/// Closes a channel; flag 1 ends its operations early.
@c(dispatch_io_close)
public func dispatchIOClose(_ handle: Handle?, _ flags: UInt) {
  channel(handle).close(flags: DispatchIO.CloseFlags(rawValue: flags & 1))
}

/// Returns the descriptor, or -1.
@c(dispatch_io_get_descriptor)
public func dispatchIOGetDescriptor(_ handle: Handle?) -> Int32 { channel(handle).fileDescriptor }

// MARK: Limits

/// Sets the maximum number of bytes in one call of a handler.
@c(dispatch_io_set_high_water)
public func dispatchIOSetHighWater(_ handle: Handle?, _ bytes: Int) {
  channel(handle).setLimit(highWater: bytes)
}

/// Sets the minimum number of bytes for which a handler is called.
@c(dispatch_io_set_low_water)
public func dispatchIOSetLowWater(_ handle: Handle?, _ bytes: Int) {
  channel(handle).setLimit(lowWater: bytes)
}

/// Sets the interval of handler calls, in nanoseconds; flag 1 calls them however few bytes there
/// are.
@c(dispatch_io_set_interval)
public func dispatchIOSetInterval(_ handle: Handle?, _ nanoseconds: UInt64, _ flags: UInt) {
  let interval: DispatchTimeInterval =
    nanoseconds >= UInt64(Int64.max) ? .never : .nanoseconds(Int(nanoseconds))
  channel(handle).setInterval(
    interval: interval, flags: DispatchIO.IntervalFlags(rawValue: flags & 1))
}

// MARK: Single operations

private func read(
  _ descriptor: Int32, _ length: Int, _ target: Handle?, _ handler: ClientHandler
) {
  DispatchIO.read(
    fromFileDescriptor: descriptor, maxLength: length, runningHandlerOn: queueOrDefault(target)
  ) { handler($0, $1) }
}

/// Reads once; the block gets (data, error).
@c(dispatch_read)
public func dispatchRead(
  _ descriptor: Int32, _ length: Int, _ target: Handle?, _ block: UnsafeMutableRawPointer
) {
  read(descriptor, length, target, ClientHandler(block))
}

@c(dispatch_read_f)
public func dispatchReadFunction(
  _ descriptor: Int32, _ length: Int, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @convention(c) (UnsafeMutableRawPointer?, Handle?, Int32) -> Void
) {
  read(descriptor, length, target, ClientHandler(work, context))
}

private func write(
  _ descriptor: Int32, _ bytes: Handle?, _ target: Handle?, _ handler: ClientHandler
) {
  DispatchIO.write(
    toFileDescriptor: descriptor, data: data(bytes), runningHandlerOn: queueOrDefault(target)
  ) { handler($0, $1) }
}

/// Writes all; the block gets (unwritten data or NULL, error).
@c(dispatch_write)
public func dispatchWrite(
  _ descriptor: Int32, _ bytes: Handle?, _ target: Handle?, _ block: UnsafeMutableRawPointer
) {
  write(descriptor, bytes, target, ClientHandler(block))
}

@c(dispatch_write_f)
public func dispatchWriteFunction(
  _ descriptor: Int32, _ bytes: Handle?, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @convention(c) (UnsafeMutableRawPointer?, Handle?, Int32) -> Void
) {
  write(descriptor, bytes, target, ClientHandler(work, context))
}
