// Room: IO/DispatchIO. The public handle of a channel. The IOChannel behind it lives until its
// operations have ended. The deinit of the handle closes the channel. Operations and barriers hold
// the handle too, so a released channel stays open, and may be used, until they have returned.
import CGrandCentralLinux

/// A file descriptor, under the name of the C interface.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_fd_t = Int32

/// A channel that reads and writes a file, socket, pipe or terminal asynchronously.
///
/// Any thread may submit operations; the calls return at once. The handler of an operation runs on
/// the queue passed with that operation. Calls of one handler run in order and never overlap. Each
/// call delivers part of the result; the last call has `done` set. Operations of a `.stream`
/// channel run in submission order. Reads and writes run beside each other, except on files, where
/// both share the file position and run one after the other. Operations of a `.random` channel have
/// offsets of their own and may run concurrently. All channels of one descriptor share one order.
///
/// A read delivers at most a few MiB ahead of its handlers. It then pauses until they return.
///
/// While a channel uses a descriptor, do not close the descriptor or change its flags. Pipes,
/// sockets and terminals are non-blocking during that time, also under their duplicates made by
/// dup(2). Close the descriptor in the cleanup handler. If it is closed earlier, operations end
/// with `EBADF`. An operation that already waits for bytes ends only when another operation is
/// submitted, a channel of the descriptor is closed, or a channel is made for the same number.
///
/// ```swift
/// let channel = DispatchIO(type: .stream, fileDescriptor: socket, queue: queue) { _ in
///   close(socket)
/// }
/// channel.setLimit(lowWater: 1)
/// channel.read(offset: 0, length: .max, queue: queue) { done, data, error in
///   if let data { parser.feed(data) }
///   if done { channel.close() }
/// }
/// ```
/// - Source: `dispatch_io_create(3)`, `dispatch_io_read(3)`.
// SAFETY: its own stored property never changes, and the channel it refers to is guarded by the
// lock of its file.
public class DispatchIO: DispatchObject, @unchecked Sendable {
  /// How a channel addresses the bytes of its descriptor.
  public enum StreamType: UInt, Sendable {
    /// Transfers start at the file position and follow each other. Offsets are ignored.
    case stream = 0
    /// Transfers use offsets. They count from the file position when the channel was made, or from
    /// the start of the file for a channel made by path.
    case random = 1
  }

  /// Options for closing a channel.
  public struct CloseFlags: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: UInt
    /// Makes a set of options from its bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Apple, Dispatch, `DispatchIO.CloseFlags`.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Ends pending operations early, with `ECANCELED`.
    public static let stop = CloseFlags(rawValue: 1)
  }

  /// Options for the interval of a channel.
  public struct IntervalFlags: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: UInt
    /// Makes a set of options from its bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Apple, Dispatch, `DispatchIO.IntervalFlags`.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Makes an empty set of options.
    ///
    /// - Parameter nilLiteral: ignored.
    /// - Source: Apple, Dispatch, `DispatchIO.IntervalFlags`.
    public init(nilLiteral: ()) { rawValue = 0 }

    /// Calls the handler at each interval, even below the low-water mark.
    public static let strictInterval = IntervalFlags(rawValue: 1)
  }

  let channel: IOChannel

  init(_ channel: IOChannel) {
    self.channel = channel
    super.init()
  }

  deinit {
    channel.file.close(channel, stops: false)
    endAttachment()
  }

  // MARK: Creating channels

  /// Makes a channel for a file descriptor.
  ///
  /// - Parameters:
  ///   - type: how operations address the bytes. `.random` needs a seekable descriptor.
  ///   - fileDescriptor: the descriptor. The channel uses it until `cleanupHandler` runs. Several
  ///     channels may share it.
  ///   - queue: the queue on which `cleanupHandler` runs.
  ///   - cleanupHandler: runs once. Its error is 0 after all channels of the descriptor have been
  ///     closed or released, their operations have ended and their handlers have returned. If the
  ///     channel cannot be made, the handler runs soon, with `EBADF`, `EISDIR`, `ESPIPE` (`.random`
  ///     on a pipe, socket or terminal) or another errno. Every operation then ends with that
  ///     error, and the caller owns the descriptor again.
  /// - Source: `dispatch_io_create(3)`.
  public convenience init(
    type: StreamType, fileDescriptor: dispatch_fd_t, queue: DispatchQueue,
    cleanupHandler: @escaping (_ error: Int32) -> Void
  ) {
    self.init(
      IOTable.shared.channel(
        fileDescriptor, isRandom: type == .random, queue: queue, cleanup: cleanupHandler))
  }

  /// Makes a channel for the file at an absolute path; fails if the path is relative.
  ///
  /// The first operation or barrier opens the file, without waiting for the other end of a FIFO.
  /// The file is closed after its last channel has been closed.
  ///
  /// - Parameters:
  ///   - type: how operations address the bytes. `.random` needs a seekable file.
  ///   - path: an absolute path, copied by the call. The result is `nil` for any other path.
  ///   - oflag: flags for `open(2)`.
  ///   - mode: permissions of a file that `open(2)` creates.
  ///   - queue: the queue on which `cleanupHandler` runs.
  ///   - cleanupHandler: runs once. Its error is 0 after the channel has been closed, its
  ///     operations have ended and the file has been closed. It runs soon, with an error, if the
  ///     file does not exist (`ENOENT`; with `O_CREAT`, if its folder does not exist) or has the
  ///     wrong kind (`EISDIR`, `ESPIPE`). If the file exists but cannot be opened later (`EACCES`,
  ///     `EEXIST` with `O_EXCL`, `ENXIO` for a FIFO without a reader), only the operations report
  ///     that error.
  /// - Source: `dispatch_io_create_with_path(3)`.
  @available(swift, introduced: 4)
  public convenience init?(
    type: StreamType, path: UnsafePointer<Int8>, oflag: Int32, mode: mode_t, queue: DispatchQueue,
    cleanupHandler: @escaping (_ error: Int32) -> Void
  ) {
    guard path.pointee == UInt8(ascii: "/") else { return nil }
    let path = IOFile.Path(path, flags: oflag, mode: UInt32(mode))
    self.init(
      IOTable.shared.channel(
        path, isRandom: type == .random, queue: queue, cleanup: cleanupHandler))
  }

  /// Makes a channel for the file at an absolute path; traps if the path is relative.
  ///
  /// - Parameters:
  ///   - type: how operations address the bytes. `.random` needs a seekable file.
  ///   - path: an absolute path, copied by the call. The call traps on any other path.
  ///   - oflag: flags for `open(2)`.
  ///   - mode: permissions of a file that `open(2)` creates.
  ///   - queue: the queue on which `cleanupHandler` runs.
  ///   - cleanupHandler: runs once, as for the failable initialiser.
  /// - Source: `dispatch_io_create_with_path(3)`.
  @available(swift, obsoleted: 4)
  public convenience init(
    type: StreamType, path: UnsafePointer<Int8>, oflag: Int32, mode: mode_t, queue: DispatchQueue,
    cleanupHandler: @escaping (_ error: Int32) -> Void
  ) {
    require(
      path.pointee == UInt8(ascii: "/"),
      "DispatchIO of the path '\(String(cString: path))'. Pass one that begins with '/'.")
    self.init(
      IOTable.shared.channel(
        IOFile.Path(path, flags: oflag, mode: UInt32(mode)), isRandom: type == .random,
        queue: queue, cleanup: cleanupHandler))
  }

  /// Makes a channel for the descriptor or file of another channel.
  ///
  /// The new channel starts with the default limits. The cleanup handlers of both channels run when
  /// both have been closed.
  ///
  /// - Parameters:
  ///   - type: how operations of the new channel address the bytes.
  ///   - io: the other channel. If it is closed, the new channel fails with `ECANCELED`.
  ///   - queue: the queue on which `cleanupHandler` runs.
  ///   - cleanupHandler: runs once, as for the other initialisers.
  /// - Source: `dispatch_io_create_with_io(3)`.
  public convenience init(
    type: StreamType, io: DispatchIO, queue: DispatchQueue,
    cleanupHandler: @escaping (_ error: Int32) -> Void
  ) {
    self.init(
      IOTable.shared.channel(
        with: io.channel, isRandom: type == .random, queue: queue, cleanup: cleanupHandler))
  }

  // MARK: Operations

  /// Submits a read. Returns at once; any thread may call it.
  ///
  /// - Parameters:
  ///   - offset: the position in bytes, for a `.random` channel; ignored for a `.stream`.
  ///   - length: the maximum number of bytes. `.max` or a negative number reads to the end.
  ///   - queue: the queue on which `ioHandler` runs.
  ///   - ioHandler: receives bytes; no byte is delivered twice. The last call has `done` set. Error
  ///     0 with empty data means the end of the file or stream. Otherwise that call delivers the
  ///     remaining bytes with 0 or an errno: an error of `read(2)`, an error of `open(2)` for a
  ///     channel made by path, or `ECANCELED` if the channel was closed before the call or was
  ///     stopped. The data is `nil` if there is an error and no bytes.
  /// - Source: `dispatch_io_read(3)`.
  public func read(
    offset: off_t, length: Int, queue: DispatchQueue,
    ioHandler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) {
    submit(
      IOOperation(
        .read, of: channel, offset: channel.position(of: Int64(offset)),
        length: IOLimits.length(length), limits: currentLimits, queue: queue, handler: ioHandler))
  }

  /// Submits a write. Returns at once; any thread may call it.
  ///
  /// - Parameters:
  ///   - offset: the position in bytes, for a `.random` channel; ignored for a `.stream`.
  ///   - data: the bytes. All of them are written unless an error occurs.
  ///   - queue: the queue on which `ioHandler` runs.
  ///   - ioHandler: receives the bytes not written yet. The last call has `done` set. It receives
  ///     `nil` and 0 after all bytes were written. Otherwise it receives the rest and an errno: an
  ///     error of `write(2)` (`EPIPE` without a signal), an error of `open(2)` for a channel made
  ///     by path, or `ECANCELED` if the channel was closed before the call or was stopped.
  /// - Source: `dispatch_io_write(3)`.
  public func write(
    offset: off_t, data: DispatchData, queue: DispatchQueue,
    ioHandler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) {
    submit(
      IOOperation(
        .write, of: channel, offset: channel.position(of: Int64(offset)), length: data.count,
        limits: currentLimits, data: data, queue: queue, handler: ioHandler))
  }

  private func submit(_ operation: IOOperation) {
    operation.handle = self
    channel.file.submit(operation)
  }

  /// Runs a closure between the earlier and the later operations of the descriptor.
  ///
  /// The closure starts after all earlier operations, of every channel of the descriptor, have
  /// ended and their last handlers have been submitted. Later operations start after it returns.
  ///
  /// - Parameter execute: runs once, on the global queue with the class of the channel's target
  ///   queue. It may use the descriptor freely but must not close it. `fileDescriptor` is -1 inside
  ///   it if the channel has no descriptor.
  /// - Source: `dispatch_io_barrier(3)`.
  public func barrier(execute: @escaping () -> Void) {
    // As the handle of an operation: the closure may use a channel that was released.
    channel.file.barrier(channel) { withExtendedLifetime(self, execute) }
  }

  /// Closes the channel. Earlier operations finish; then the cleanup handler runs.
  ///
  /// Operations submitted later end with `ECANCELED`. Any thread may call it, any number of times.
  ///
  /// - Parameter flags: `.stop` ends the earlier operations early, with `ECANCELED` and with the
  ///   bytes they have read or not written.
  /// - Source: `dispatch_io_close(3)`.
  public func close(flags: CloseFlags = []) {
    channel.file.close(channel, stops: flags.contains(.stop))
  }

  /// The file descriptor, or -1 if the channel is closed or has no descriptor.
  ///
  /// A channel made by path has a descriptor inside a barrier and after its first operation has
  /// ended. The barriers of a channel that has been closed still see the descriptor.
  /// - Source: `dispatch_io_get_descriptor(3)`.
  public var fileDescriptor: Int32 { channel.file.descriptor(for: channel) }

  // MARK: Limits

  /// Sets the maximum number of bytes for each handler call of later operations.
  ///
  /// Lowers the low-water mark if it is above the new value.
  ///
  /// - Parameter highWater: the limit in bytes, at least 1. `.max` or a negative number removes the
  ///   limit. The default is no limit.
  /// - Source: `dispatch_io_set_high_water(3)`.
  public func setLimit(highWater: Int) {
    channel.file.lock.withLock { channel.limits.setHigh(highWater) }
  }

  /// Sets the minimum number of bytes for each handler call of later operations.
  ///
  /// The last call of an operation may deliver less. Raises the high-water mark if it is below the
  /// new value.
  ///
  /// - Parameter lowWater: the mark in bytes. `.max` or a negative number delivers everything in
  ///   one call. The default is 1 MiB. With 1, the handler receives bytes as they arrive.
  /// - Source: `dispatch_io_set_low_water(3)`.
  public func setLimit(lowWater: Int) {
    channel.file.lock.withLock { channel.limits.setLow(lowWater) }
  }

  /// Sets how often the handlers of later operations run, by time.
  ///
  /// - Parameters:
  ///   - interval: the time between two calls. `.never`, zero and negative intervals turn the timer
  ///     off.
  ///   - flags: without `.strictInterval`, a handler runs at an interval only if the low-water mark
  ///     has been reached.
  /// - Source: `dispatch_io_set_interval(3)`.
  public func setInterval(interval: DispatchTimeInterval, flags: IntervalFlags = []) {
    let isStrict = flags.contains(.strictInterval)
    channel.file.lock.withLock { channel.limits.setInterval(interval, isStrict: isStrict) }
  }

  private var currentLimits: IOLimits { channel.file.lock.withLock { channel.limits } }

  // MARK: DispatchObject

  /// Sets the class of the global queue on which barriers run. Handlers keep their own queues.
  override final func changeTarget(to queue: DispatchObject?) {
    let queue = queue.map { unsafeDowncast($0, to: DispatchQueue.self) } ?? .global()
    let global = DispatchQueue.global(qos: queue.handedDown.dispatchQoS.qosClass)
    channel.file.lock.withLock { channel.barrierQueue = global }
  }
}
