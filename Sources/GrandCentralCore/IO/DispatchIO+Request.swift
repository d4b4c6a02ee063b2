// Room: IO/DispatchIO+Request. One operation whose handler is called once, and which can be
// stopped while the channel stays open: what the asynchronous functions of the interface need.

/// A read or write that is made first and submitted later.
package struct IORequest: Sendable {
  private let operation: IOOperation

  fileprivate init(_ operation: IOOperation) { self.operation = operation }

  /// Submits the operation, once.
  package func submit() { operation.file.submit(operation) }

  /// Ends the operation early, with ECANCELED, before or after its submission. Has no effect after
  /// its end. Any thread.
  package func stop() { operation.file.stop(operation) }
}

extension DispatchIO {
  /// Makes a read of at most `length` bytes, which ends with the first bytes that there are.
  ///
  /// `handler` runs once, on `queue`, as the last call of a handler of `read` does: with bytes and
  /// 0; with no bytes and 0 at the end; or with an errno.
  package func request(
    reading length: Int, at offset: off_t, queue: DispatchQueue,
    handler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) -> IORequest {
    IORequest(
      IOOperation(
        .read, of: channel, offset: channel.position(of: Int64(offset)), length: length,
        limits: .unlimited, extent: .oneTransfer, callsOnce: true, queue: queue, handler: handler))
  }

  /// Makes a write of all of `data`. `handler` runs once, on `queue`, as the last call of a handler
  /// of `write` does.
  package func request(
    writing data: DispatchData, at offset: off_t, queue: DispatchQueue,
    handler: @escaping (_ done: Bool, _ data: DispatchData?, _ error: Int32) -> Void
  ) -> IORequest {
    IORequest(
      IOOperation(
        .write, of: channel, offset: channel.position(of: Int64(offset)), length: data.count,
        limits: .unlimited, data: data, callsOnce: true, queue: queue, handler: handler))
  }
}
