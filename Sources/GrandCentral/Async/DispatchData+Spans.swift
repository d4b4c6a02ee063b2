// Purpose: the regions of DispatchData as spans, which cannot outlive it.
public import GrandCentralCore

extension DispatchData {
  /// Calls a closure with each contiguous stretch of bytes, in order. Copies nothing.
  ///
  /// ```swift
  /// var zeros = 0
  /// data.forEachRegion { span in
  ///   for index in span.byteOffsets {
  ///     if span.unsafeLoad(fromByteOffset: index, as: UInt8.self) == 0 { zeros += 1 }
  ///   }
  /// }
  /// ```
  /// - Parameter body: runs on the calling thread, once for each stretch; never with an empty span.
  ///   An error that it throws ends the walk.
  /// - Throws: the error of `body`.
  /// - Source: `dispatch_data_apply(3)`; Swift Evolution SE-0447, Span.
  public func forEachRegion<Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    var failure: Failure?
    enumerateBytes { bytes, _, stop in
      do throws(Failure) { try body(UnsafeRawBufferPointer(bytes).bytes) } catch {
        failure = error
        stop = true
      }
    }
    if let failure { throw failure }
  }

  /// Creates a value with a copy of the bytes of a span.
  ///
  /// - Parameter span: the bytes.
  /// - Source: `dispatch_data_create(3)`; Swift Evolution SE-0447, Span.
  public init(copying span: RawSpan) {
    self = span.withUnsafeBytes { DispatchData(bytes: $0) }
  }
}
