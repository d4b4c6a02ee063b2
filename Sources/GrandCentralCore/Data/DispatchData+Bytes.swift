// Room: Data/DispatchData+Bytes. Access to the bytes: by region, in one contiguous stretch, copied
// out.

extension DispatchData {
  /// Calls a closure with all bytes in one contiguous stretch.
  ///
  /// The first call on a value of several pieces copies them together. The copy is kept with the
  /// tree for later calls on this value and its copies, until the value is appended to. Threads may
  /// call this concurrently.
  ///
  /// - Parameter body: runs once, on the calling thread. The pointer is valid until it returns; it
  ///   must not be read if there are no bytes.
  /// - Returns: the result of `body`.
  /// - Throws: the error of `body`.
  /// - Source: `dispatch_data_create_map(3)`.
  public func withUnsafeBytes<Result, ContentType>(
    body: (UnsafePointer<ContentType>) throws -> Result
  ) rethrows -> Result {
    let flat = mapped()
    return try withExtendedLifetime(flat) {
      // SAFETY: the caller chooses a type that suits the bytes. Without bytes, the address is
      // aligned for that type.
      let start =
        flat.base.map { UnsafeRawPointer($0) }
        ?? UnsafeRawPointer(bitPattern: MemoryLayout<ContentType>.alignment).unsafelyUnwrapped
      return try body(start.assumingMemoryBound(to: ContentType.self))
    }
  }

  /// Returns the same bytes in one piece.
  func mapped() -> DispatchData {
    guard let root else { return self }
    let flat = root.flattened()
    return DispatchData(owner: flat, base: flat.start, count: length)
  }

  /// Calls a closure with each contiguous stretch of bytes, in order, until it asks to stop.
  ///
  /// - Parameter block: runs on the calling thread. It receives the bytes, valid until it returns;
  ///   the index of the first of them; and `stop`, which it sets to end the walk.
  /// - Source: `dispatch_data_apply(3)`.
  public func enumerateBytes(
    _ block: (_ buffer: UnsafeBufferPointer<UInt8>, _ byteIndex: Int, _ stop: inout Bool) -> Void
  ) {
    // A block that sets `stop` is not called again, so one variable serves all stretches.
    _ = forEachRegion(in: 0..<length, block)
  }

  /// Calls `body` with each contiguous stretch of the bytes in `range`, which must exist, and with
  /// the index of its first byte, until it sets `stop`. Returns false if it set `stop`.
  func forEachRegion(
    in range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>, Int, _ stop: inout Bool) -> Void
  ) -> Bool {
    var stop = false
    if range.isEmpty { return true }
    withExtendedLifetime(self) {
      if let root { return root.forEachPiece(in: range, origin: 0, stop: &stop, body) }
      let start = base.unsafelyUnwrapped + range.lowerBound
      body(UnsafeBufferPointer(start: start, count: range.count), range.lowerBound, &stop)
    }
    return !stop
  }

  /// Returns the contiguous stretch of bytes around a location. O(log n).
  ///
  /// - Parameter location: the index of a byte.
  /// - Returns: the stretch and the index of its first byte; `(.empty, count)` if `location` is not
  ///   the index of a byte.
  /// - Source: `dispatch_data_copy_region(3)`.
  public func region(location: Int) -> (data: DispatchData, offset: Int) {
    guard location >= 0 && location < length else { return (.empty, length) }
    guard let root else { return (self, 0) }
    let (leaf, start) = root.leaf(at: location)
    let index = leaf.index(at: location - start)
    let bytes = leaf.piece(index)
    let data = DispatchData(
      owner: leaf.slots[index].object, base: bytes.baseAddress.unsafelyUnwrapped,
      count: bytes.count)
    return (data, start + leaf.start(of: index))
  }

  /// Returns the bytes in a range, without copying them. O(log n).
  ///
  /// - Parameter range: the indices. Indices from `count` on are ignored.
  /// - Returns: a value that shares the bytes. It is empty if the range starts below 0, or at
  ///   `count` or above.
  /// - Source: `dispatch_data_create_subrange(3)`.
  public func subdata(in range: Range<Index>) -> DispatchData {
    let range = existing(range)
    if range.isEmpty { return .empty }
    if range.count == length { return self }
    guard let base else { return root.unsafelyUnwrapped.cut(range) }
    return DispatchData(
      owner: owner.unsafelyUnwrapped, base: base + range.lowerBound, count: range.count)
  }

  private func existing(_ range: Range<Int>) -> Range<Int> {
    guard range.lowerBound >= 0 && range.lowerBound < length else { return 0..<0 }
    return range.lowerBound..<Swift.min(range.upperBound, length)
  }
}

// MARK: Deprecated name

extension DispatchData {
  /// Calls a closure with each contiguous stretch of bytes, in order, until it asks to stop.
  ///
  /// - Parameter block: as for `enumerateBytes(_:)`.
  /// - Source: `dispatch_data_apply(3)`.
  // Disfavoured, so that a call with a trailing closure is not ambiguous.
  @available(swift, deprecated: 4, renamed: "enumerateBytes(_:)") @_disfavoredOverload
  public func enumerateBytes(
    block: (_ buffer: UnsafeBufferPointer<UInt8>, _ byteIndex: Int, _ stop: inout Bool) -> Void
  ) {
    enumerateBytes(block)
  }
}

// MARK: Copying out

extension DispatchData {
  /// Copies the first bytes to memory.
  ///
  /// - Parameters:
  ///   - pointer: memory for `count` bytes.
  ///   - count: the number of bytes; at most `self.count` are copied. Traps if negative.
  /// - Source: Apple, Dispatch, `DispatchData.copyBytes(to:count:)`.
  public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, count: Int) {
    checkCount(count)
    copy(0..<Swift.min(count, length), to: UnsafeMutableRawPointer(pointer))
  }

  /// Copies the first bytes to a raw buffer.
  ///
  /// - Parameters:
  ///   - pointer: the buffer. Traps if it is too small.
  ///   - count: the number of bytes; at most `self.count` are copied. Traps if negative.
  /// - Source: Apple, Dispatch, `DispatchData.copyBytes(to:count:)`.
  public func copyBytes(to pointer: UnsafeMutableRawBufferPointer, count: Int) {
    checkCount(count)
    copy(0..<Swift.min(count, length), to: pointer)
  }

  /// Copies the bytes in a range to memory.
  ///
  /// - Parameters:
  ///   - pointer: memory for the bytes of the range.
  ///   - range: the indices; those without a byte are ignored, as in `subdata(in:)`.
  /// - Source: Apple, Dispatch, `DispatchData.copyBytes(to:from:)`.
  public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, from range: Range<Index>) {
    copy(existing(range), to: UnsafeMutableRawPointer(pointer))
  }

  /// Copies the bytes in a range to a raw buffer.
  ///
  /// - Parameters:
  ///   - pointer: the buffer. Traps if it is too small.
  ///   - range: the indices; those without a byte are ignored, as in `subdata(in:)`.
  /// - Source: Apple, Dispatch, `DispatchData.copyBytes(to:from:)`.
  public func copyBytes(to pointer: UnsafeMutableRawBufferPointer, from range: Range<Index>) {
    copy(existing(range), to: pointer)
  }

  /// Copies as many bytes as fit to a typed buffer.
  ///
  /// - Parameters:
  ///   - buffer: the destination. Its last element may be written in part.
  ///   - range: the indices of the bytes; `nil` for all. Traps if it is not within `0..<count`,
  ///     unless the value is empty.
  /// - Returns: the number of bytes copied.
  /// - Source: Apple, Dispatch, `DispatchData.copyBytes(to:from:)`.
  public func copyBytes<DestinationType>(
    to buffer: UnsafeMutableBufferPointer<DestinationType>, from range: Range<Index>? = nil
  ) -> Int {
    guard length > 0 else { return 0 }
    let range = range ?? 0..<length
    require(
      range.lowerBound >= 0 && range.upperBound <= length,
      """
      DispatchData.copyBytes(to:from:) of \(range) from \(length) bytes. Pass a range within \
      startIndex..<endIndex.
      """)
    let target = UnsafeMutableRawBufferPointer(buffer)
    let count = Swift.min(range.count, target.count)
    copy(range.lowerBound..<range.lowerBound + count, to: target)
    return count
  }

  private func checkCount(_ count: Int) {
    require(count >= 0, "DispatchData.copyBytes(to:count:) of \(count) bytes. Pass 0 or more.")
  }

  private func copy(_ range: Range<Int>, to target: UnsafeMutableRawBufferPointer) {
    require(
      range.count <= target.count,
      """
      DispatchData.copyBytes(to:) of \(range.count) bytes to a buffer of \(target.count). Pass a \
      buffer \
      with room for all of them, or a smaller count.
      """)
    if let start = target.baseAddress { copy(range, to: start) }
  }

  /// Copies existing bytes to memory with room for them.
  private func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    if range.isEmpty { return }
    withExtendedLifetime(self) {
      if let root { return root.copy(range, to: target) }
      target.copyMemory(from: base.unsafelyUnwrapped + range.lowerBound, byteCount: range.count)
    }
  }
}
