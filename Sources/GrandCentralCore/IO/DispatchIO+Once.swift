// Room: IO/DispatchIO+Once. One read or one write of a descriptor, with a channel of its own for as long as it takes.

extension DispatchIO {
  /// Reads once what is there.
  ///
  /// Waits until something can be read, and ends when as much has been read as can be without waiting again, or as is
  /// asked for. Files are read up to `maxLength` or their end. In order with the channels of the descriptor.
  ///
  /// - Parameters:
  ///   - fromFileDescriptor: not to be closed before `handler` runs.
  ///   - maxLength: in bytes; `.max` or a negative number: no limit.
  ///   - queue: where `handler` runs.
  ///   - handler: runs once, with what was read and 0 or what `read(2)` says. No bytes and 0: the end.
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
        takesWhatIsThere: true, queue: .global()
      ) { _, data, error in
        if let data { result.data.append(data) }
        result.error = error
      })
  }

  /// Writes all of `data`.
  ///
  /// - Parameters:
  ///   - toFileDescriptor: not to be closed before `handler` runs.
  ///   - data: what to write, in order with the channels of the descriptor.
  ///   - queue: where `handler` runs.
  ///   - handler: runs once: with `nil` and 0 when all has been written, otherwise with the rest and what `write(2)`
  ///     says.
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
    // A channel that cannot be has said so already.
    if channel.file.lock.withLock({ channel.error }) == 0 { channel.file.submit(operation) }
    channel.file.close(channel, stops: false)
  }
}

/// What the operation found, for the handler, which runs when the channel has gone.
private final class OnceResult: @unchecked Sendable {
  @Cell var data = DispatchData.empty
  @Cell var error: Int32 = 0
}
