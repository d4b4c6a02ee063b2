// Room: IO/DispatchIO. A channel as users know it. What it stands for is an IOChannel, which lives on while operations
// run; the last reference to this object closes it.
import CLinux

/// A descriptor, as C's interface calls it.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_fd_t = Int32

/// Reads and writes without waiting: a channel to a file, a socket, a pipe or a terminal.
///
/// Operations are asked for from any thread and return at once. Their handlers run on the queue given with each, in
/// order, never two of one operation at once: some with what has been moved so far, and one, the last, with `done`.
/// Operations of a `.stream` run in the order in which they were asked for, reads beside writes (for files, whose
/// position both share, one after the other). Those of a `.random` channel have each a place of their own and may run
/// at once. All channels of one descriptor are kept in order with each other.
///
/// A reader does not run ahead of its handlers by more than a few MiB: while they do not return, it waits.
///
/// While a channel has a descriptor, the descriptor is not to be closed, nor its flags changed: pipes, sockets and
/// terminals are non-blocking meanwhile, also by their other numbers, which dup(2) made. Close it in the cleanup
/// handler. If it is closed all the same, operations end with `EBADF`; one that waits for bytes hears of it only when
/// something more is asked for, when a channel of the descriptor is closed, or one is made of its number.
///
/// ```swift
/// let channel = DispatchIO(type: .stream, fileDescriptor: socket, queue: queue) { _ in close(socket) }
/// channel.setLimit(lowWater: 1)
/// channel.read(offset: 0, length: .max, queue: queue) { done, data, error in
///   if let data { parser.feed(data) }
///   if done { channel.close() }
/// }
/// ```
/// - Source: `dispatch_io_create(3)`, `dispatch_io_read(3)`.
// SAFETY: the channel never changes; it has a lock.
public class DispatchIO: DispatchObject, @unchecked Sendable {
  /// How a channel gets at bytes.
  public enum StreamType: UInt, Sendable {
    /// From where the descriptor stands, one after the other. Offsets have no meaning.
    case stream = 0
    /// At offsets, which are counted from where the descriptor stood when the channel was made, or from the file's
    /// start if it was made by path.
    case random = 1
  }

  /// How a channel is closed.
  public struct CloseFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Operations end as soon as they can, with `ECANCELED`.
    public static let stop = CloseFlags(rawValue: 1)
  }

  /// How an interval is kept.
  public struct IntervalFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public init(nilLiteral: ()) { rawValue = 0 }

    /// The handler runs at each interval, however little has been moved.
    public static let strictInterval = IntervalFlags(rawValue: 1)
  }

  private let channel: IOChannel

  init(_ channel: IOChannel) {
    self.channel = channel
    super.init()
  }

  deinit {
    channel.file.close(channel, stops: false)
    endAttachment(on: Runtime.shared.root(.default))
  }

  // MARK: Making one

  /// Makes a channel to a descriptor.
  ///
  /// - Parameters:
  ///   - type: `.random` needs a descriptor that can be positioned.
  ///   - fileDescriptor: is the channel's until `cleanupHandler` runs. Any number of channels may share it.
  ///   - queue: where `cleanupHandler` runs.
  ///   - cleanupHandler: runs once. With 0: all channels of the descriptor are closed, or their last reference is gone,
  ///     their operations have ended, and their handlers have returned. Or soon, with the reason why there can be no
  ///     such channel: `EBADF`, `EISDIR`, `ESPIPE` (`.random` on a pipe, socket or terminal). Every operation then ends
  ///     with that error, and the descriptor is the caller's.
  /// - Source: `dispatch_io_create(3)`.
  public convenience init(
    type: StreamType, fileDescriptor: dispatch_fd_t, queue: DispatchQueue,
    cleanupHandler: @escaping (_ error: Int32) -> Void
  ) {
    self.init(
      IOTable.shared.channel(
        fileDescriptor, isRandom: type == .random, queue: queue, cleanup: cleanupHandler))
  }

  /// Makes a channel to a file by its path.
  ///
  /// The file is opened, without waiting for the other end of a FIFO, when there is a first operation or barrier, and
  /// closed when the channel is.
  ///
  /// - Parameters:
  ///   - type: `.random` needs a file that can be positioned.
  ///   - path: absolute; otherwise the result is `nil`. Not used after the call.
  ///   - oflag: flags for `open(2)`.
  ///   - mode: permissions of a file that is made.
  ///   - queue: where `cleanupHandler` runs.
  ///   - cleanupHandler: runs once: soon, with an error, if there is no such file (`ENOENT`; with `O_CREAT`, no such
  ///     folder) or it is of the wrong kind (`EISDIR`, `ESPIPE`); otherwise with 0, when the channel is closed, its
  ///     operations have ended and the file has been closed. A file that exists but cannot be opened later (`EACCES`,
  ///     `EEXIST` with `O_EXCL`, `ENXIO` of a FIFO without a reader) reports that to its operations alone.
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

  /// Makes a channel to a file by its path, as the initialiser that may fail does. A path that is not absolute stops
  /// the process.
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

  /// Makes a channel to what another one is for, with default limits and a type of its own.
  ///
  /// - Parameters:
  ///   - type: the new channel's.
  ///   - io: a channel; the descriptor, or the file that was opened, serves both, and the cleanup handlers of both run
  ///     when both are closed. One that is closed gives `ECANCELED`.
  ///   - queue: where `cleanupHandler` runs.
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

  /// Reads.
  ///
  /// - Parameters:
  ///   - offset: of a `.random` channel, where to read, in bytes.
  ///   - length: how many bytes at most; `.max` or a negative number: up to the end.
  ///   - queue: where `ioHandler` runs.
  ///   - ioHandler: each time with bytes that no other call was given. The last call has `done`: with error 0 and no
  ///     bytes at the end of the file or stream; otherwise with what is still to be handed over, and with 0 or an errno:
  ///     what `read(2)` says, or `open(2)` for a channel made with a path; `ECANCELED` when the channel was closed
  ///     before or was stopped. Data is `nil` if there is an error and none.
  /// - Source: `dispatch_io_read(3)`.
  public func read(
    offset: off_t, length: Int, queue: DispatchQueue,
    ioHandler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) {
    channel.file.submit(
      IOOperation(
        .read, of: channel, offset: channel.place(of: Int64(offset)),
        length: IOLimits.length(length), limits: currentLimits, queue: queue, handler: ioHandler))
  }

  /// Writes.
  ///
  /// - Parameters:
  ///   - offset: of a `.random` channel, where to write, in bytes.
  ///   - data: what to write, all of it.
  ///   - queue: where `ioHandler` runs.
  ///   - ioHandler: each time with what has not been written yet. The last call has `done`, with 0 and `nil` when all
  ///     has been written; otherwise with the rest, and an errno: what `write(2)` says (`EPIPE` without a signal), or
  ///     `open(2)` for a channel made with a path; `ECANCELED` when the channel was closed before or was stopped.
  /// - Source: `dispatch_io_write(3)`.
  public func write(
    offset: off_t, data: DispatchData, queue: DispatchQueue,
    ioHandler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) {
    channel.file.submit(
      IOOperation(
        .write, of: channel, offset: channel.place(of: Int64(offset)), length: data.count,
        limits: currentLimits, data: data, queue: queue, handler: ioHandler))
  }

  /// Runs `execute` when all operations that were asked for before, of any channel of the descriptor, have ended, and
  /// before any that are asked for later begin. Their last handlers have been submitted then.
  ///
  /// - Parameter execute: runs once on a global queue, that of the channel's target queue's class. It may use the
  ///   descriptor as it likes, but not close it. Does nothing with the descriptor if there is none: `fileDescriptor` is
  ///   then -1.
  /// - Source: `dispatch_io_barrier(3)`.
  public func barrier(execute: @escaping () -> Void) { channel.file.barrier(channel, execute) }

  /// Closes the channel: operations that are asked for from now on end with `ECANCELED`, those from before go on, and
  /// then the cleanup handler runs. Call from any thread, any number of times.
  ///
  /// - Parameter flags: with `.stop` those from before end as soon as they can, with `ECANCELED` and what they have
  ///   read, or have not written.
  /// - Source: `dispatch_io_close(3)`.
  public func close(flags: CloseFlags = []) {
    channel.file.close(channel, stops: flags.contains(.stop))
  }

  /// The descriptor; -1 when the channel is closed or there is none, or not yet: that of a path is open in a barrier
  /// and after the first operation has ended.
  /// - Source: `dispatch_io_get_descriptor(3)`.
  public var fileDescriptor: Int32 {
    channel.file.lock.withLock { channel.isClosed ? -1 : channel.file.descriptor }
  }

  // MARK: Limits

  /// Sets how many bytes a handler is given at most, for operations that are asked for later. Lowers the low water mark
  /// if that is higher.
  ///
  /// - Parameter highWater: in bytes, at least 1; `.max`, a negative number, or not set: no limit.
  /// - Source: `dispatch_io_set_high_water(3)`.
  public func setLimit(highWater: Int) {
    channel.file.lock.withLock { channel.limits.setHigh(highWater) }
  }

  /// Sets how many bytes must have been moved before a handler is called, unless the operation is over, for operations
  /// that are asked for later. Raises the high water mark if that is lower.
  ///
  /// - Parameter lowWater: in bytes; `.max` or a negative number: all in one. Not set: 1 MiB. Set 1 to be given what
  ///   comes as it comes.
  /// - Source: `dispatch_io_set_low_water(3)`.
  public func setLimit(lowWater: Int) {
    channel.file.lock.withLock { channel.limits.setLow(lowWater) }
  }

  /// Sets how often handlers run at least while an operation is under way, for operations that are asked for later.
  ///
  /// - Parameters:
  ///   - interval: `.never`, 0 or less: not by time.
  ///   - flags: without `.strictInterval` a handler runs only if the low water mark has been reached.
  /// - Source: `dispatch_io_set_interval(3)`.
  public func setInterval(interval: DispatchTimeInterval, flags: IntervalFlags = []) {
    let isStrict = flags.contains(.strictInterval)
    channel.file.lock.withLock { channel.limits.setInterval(interval, isStrict: isStrict) }
  }

  private var currentLimits: IOLimits { channel.file.lock.withLock { channel.limits } }

  // MARK: As an object

  /// Barriers run on the global queue of the class of `queue`. Handlers have queues of their own.
  override public final func setTarget(queue: DispatchQueue) {
    let global = DispatchQueue.global(qos: queue.handedDown.dispatchQoS.qosClass)
    channel.file.lock.withLock { channel.barrierQueue = global }
  }

  override final func resetTarget() { setTarget(queue: .global()) }
}
