// Room: IO/DispatchIO+Once. A single read or write of a descriptor, through a channel that lives as
// long as the operation.

extension DispatchIO {
  /// Reads the bytes that a descriptor has available, once.
  ///
  /// The read waits until bytes are available. It ends when it would have to wait again, or after
  /// `maxLength` bytes. A file is read up to `maxLength` or its end. The read is ordered with the
  /// operations of the descriptor's channels.
  ///
  /// - Parameters:
  ///   - fromFileDescriptor: the descriptor. Do not close it before `handler` runs.
  ///   - maxLength: the maximum number of bytes. `.max` or a negative number sets no limit.
  ///   - queue: the queue on which `handler` runs.
  ///   - handler: runs once, with the bytes and 0 or an errno of `read(2)`. Empty data with 0 means
  ///     the end.
  /// - Source: `dispatch_read(3)`.
  public class func read(
    fromFileDescriptor: Int32, maxLength: Int, runningHandlerOn queue: DispatchQueue,
    handler: @escaping (_ data: DispatchData, _ error: Int32) -> Void
  ) {
    let result = OnceResult()
    let channel = IOTable.shared.channel(
      fromFileDescriptor, isRandom: false, queue: queue, leavesAlone: true
    ) { handler(result.data, result.error == 0 ? $0 : result.error) }
    run(
      channel,
      IOOperation(
        .read, of: channel, offset: nil, length: IOLimits.length(maxLength), limits: .unlimited,
        extent: .whatIsThere, queue: .global()
      ) { _, data, error in
        if let data { result.data.append(data) }
        result.error = error
      })
  }

  /// Writes all of `data` to a descriptor, once.
  ///
  /// The write is ordered with the operations of the descriptor's channels.
  ///
  /// - Parameters:
  ///   - toFileDescriptor: the descriptor. Do not close it before `handler` runs.
  ///   - data: the bytes.
  ///   - queue: the queue on which `handler` runs.
  ///   - handler: runs once. It receives `nil` and 0 after all bytes were written, otherwise the
  ///     rest and an errno of `write(2)`.
  /// - Source: `dispatch_write(3)`.
  public class func write(
    toFileDescriptor: Int32, data: DispatchData, runningHandlerOn queue: DispatchQueue,
    handler: @escaping (_ data: DispatchData?, _ error: Int32) -> Void
  ) {
    let result = OnceResult()
    result.data = data
    let channel = IOTable.shared.channel(
      toFileDescriptor, isRandom: false, queue: queue, leavesAlone: true
    ) {
      let error = result.error == 0 ? $0 : result.error
      handler(error == 0 ? nil : result.data, error)
    }
    run(
      channel,
      IOOperation(
        .write, of: channel, offset: nil, length: data.count, limits: .unlimited, data: data,
        queue: .global()
      ) { _, data, error in
        result.data = data ?? .empty
        result.error = error
      })
  }

  private class func run(_ channel: IOChannel, _ operation: IOOperation) {
    // A channel that could not be made has already submitted its cleanup handler with the error.
    if channel.file.lock.withLock({ channel.error }) == 0 { channel.file.submit(operation) }
    channel.file.close(channel, stops: false)
  }
}

/// The result of the operation, kept for the handler, which runs as the channel's cleanup handler.
private final class OnceResult: @unchecked Sendable {
  @Cell var data = DispatchData.empty
  @Cell var error: Int32 = 0
}
