// Purpose: reads and writes of channels that suspend the task, and the scope of a channel.
// Each read is one operation, submitted when the task asks for bytes: no byte is read ahead, so a
// slow reader holds the writer back at the kernel's buffer.
import Glibc
public import GrandCentralCore

/// A read or write of a channel that has failed or was cancelled.
///
/// - Source: `dispatch_io_read(3)`, `dispatch_io_write(3)`; `errno(3)`.
public struct DispatchIOError: Error, CustomStringConvertible {
  /// The errno: an error of `read(2)`, `write(2)` or `open(2)`; `ECANCELED` if the task was
  /// cancelled or the channel closed; `EMSGSIZE` for a line that is too long.
  public let code: Int32
  /// The bytes that a write has not written; empty for a read.
  public let unwritten: DispatchData

  init(_ code: Int32, unwritten: DispatchData = .empty) {
    self.code = code
    self.unwritten = unwritten
  }

  /// Whether the task was cancelled, or the channel closed.
  public var isCancellation: Bool { code == ECANCELED }

  /// The message of `strerror(3)` for the code.
  public var description: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      let start = text.baseAddress.unsafelyUnwrapped
      return strerror_r(code, start, text.count) == 0 ? String(cString: start) : "errno \(code)"
    }
  }
}

extension DispatchIO {
  /// Reads the bytes that are there, and waits for the first ones if there are none.
  ///
  /// Takes its turn with the other operations of the channel, and reads nothing before the call.
  /// Cancelling the task ends the wait; no byte is lost by that, and the channel stays open.
  ///
  /// - Parameters:
  ///   - maxBytes: the maximum number of bytes. Stops the process with a message if it is below 1.
  ///   - offset: the position in bytes, for a `.random` channel; ignored for a `.stream`.
  /// - Returns: at least one byte; no bytes at the end of the file or stream.
  /// - Throws: the error of the operation.
  /// - Source: `dispatch_io_read(3)`.
  nonisolated(nonsending)
    public func read(
      upTo maxBytes: Int = 65_536, at offset: off_t = 0
    ) async throws(DispatchIOError) -> DispatchData
  {
    require(maxBytes >= 1, "read(upTo: \(maxBytes)) of a DispatchIO. Pass 1 or more.")
    let result = OneShot<TaskWaiter<(DispatchData, Int32)>>()
    let request = request(reading: maxBytes, at: offset, queue: .ofCurrentTask) { _, data, error in
      result.complete((data ?? .empty, error))
    }
    let (data, error) = await outcome(of: request, in: result)
    // An error that follows bytes is reported by the next read.
    if error != 0 && data.isEmpty { throw DispatchIOError(error) }
    return data
  }

  /// Writes all of `data`, and returns when it is written.
  ///
  /// Takes its turn with the other operations of the channel. Cancelling the task stops the write
  /// where it is; the channel stays open.
  ///
  /// - Parameters:
  ///   - data: the bytes.
  ///   - offset: the position in bytes, for a `.random` channel; ignored for a `.stream`.
  /// - Throws: the error of the operation, with the bytes that were not written. A broken pipe is
  ///   `EPIPE`, without a signal.
  /// - Source: `dispatch_io_write(3)`.
  nonisolated(nonsending)
    public func write(_ data: DispatchData, at offset: off_t = 0) async throws(DispatchIOError)
  {
    let result = OneShot<TaskWaiter<(DispatchData, Int32)>>()
    let request = request(writing: data, at: offset, queue: .ofCurrentTask) { _, data, error in
      result.complete((data ?? .empty, error))
    }
    let (unwritten, error) = await outcome(of: request, in: result)
    if error != 0 { throw DispatchIOError(error, unwritten: unwritten) }
  }

  nonisolated(nonsending)
    private func outcome(
      of request: IORequest, in result: OneShot<TaskWaiter<(DispatchData, Int32)>>
    ) async -> (DispatchData, Int32)
  {
    await withTaskCancellationHandler {
      request.submit()
      return await result.value()
    } onCancel: {
      request.stop()
    }
  }
}

/// Runs `body` with a channel for a descriptor, then closes the channel and waits for its cleanup
/// handler.
///
/// After that, nothing uses the descriptor, and the caller may close it. Operations that tasks have
/// left behind end with `ECANCELED`.
///
/// ```swift
/// try await withChannel(fileDescriptor: socket) { channel in
///   for try await line in channel.lines() { try await channel.write(answer(to: line)) }
/// }
/// close(socket)
/// ```
/// - Parameters:
///   - fileDescriptor: the descriptor; see `DispatchIO`. If it is none, the operations throw.
///   - type: how operations address the bytes.
///   - body: receives the channel; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `dispatch_io_create(3)`.
nonisolated(nonsending)
  public func withChannel<Result, Failure: Error>(
    fileDescriptor: Int32, type: DispatchIO.StreamType = .stream,
    _ body: nonisolated(nonsending) (DispatchIO) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let isOver = OneShot<TaskWaiter<Void>>()
  let channel = DispatchIO(type: type, fileDescriptor: fileDescriptor, queue: .global()) { _ in
    isOver.complete(())
  }
  return try await using(channel, isOver, body)
}

/// Runs `body` with a channel for the file at a path, then closes the channel and the file.
///
/// The first operation opens the file. Otherwise the same as `withChannel(fileDescriptor:)`.
///
/// - Parameters:
///   - path: an absolute path. Stops the process with a message if it is relative.
///   - flags: flags for `open(2)`.
///   - mode: permissions of a file that `open(2)` creates.
///   - type: how operations address the bytes.
///   - body: receives the channel; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws. A file that cannot be opened is an error of the operations.
/// - Source: `dispatch_io_create_with_path(3)`.
nonisolated(nonsending)
  public func withChannel<Result, Failure: Error>(
    path: String, flags: Int32 = O_RDONLY, mode: mode_t = 0o666,
    type: DispatchIO.StreamType = .stream,
    _ body: nonisolated(nonsending) (DispatchIO) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let isOver = OneShot<TaskWaiter<Void>>()
  let channel = DispatchIO(type: type, path: path, oflag: flags, mode: mode, queue: .global()) {
    _ in isOver.complete(())
  }
  guard let channel else {
    clientFault("withChannel(path: \"\(path)\"). Pass a path that begins with '/'.")
  }
  return try await using(channel, isOver, body)
}

nonisolated(nonsending)
  private func using<Result, Failure: Error>(
    _ channel: DispatchIO, _ isOver: OneShot<TaskWaiter<Void>>,
    _ body: nonisolated(nonsending) (DispatchIO) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let outcome: Swift.Result<Result, Failure>
  do throws(Failure) { outcome = .success(try await body(channel)) } catch {
    outcome = .failure(error)
  }
  channel.close(flags: .stop)
  await isOver.value()
  return try outcome.get()
}
