// Room: Data/DispatchData+Bytes. Looking at the bytes: by region, in one stretch, copied out.

extension DispatchData {
  /// Calls `body` with all bytes in one stretch.
  ///
  /// A value of several pieces is copied together at the first call; the copy is kept with the tree and used
  /// by later calls on this value and its copies, until the value is appended to. Threads may call this at
  /// once. Without bytes the pointer may not be read.
  ///
  /// - Parameter body: runs once, on the calling thread. The pointer is good until it returns.
  /// - Source: `dispatch_data_create_map(3)`.
  public func withUnsafeBytes<Result, ContentType>(
    body: (UnsafePointer<ContentType>) throws -> Result
  ) rethrows -> Result {
    let flat = mapped()
    return try withExtendedLifetime(flat) {
      // SAFETY: the caller answers for what the bytes are. Where there are none, an address that
      // suits the type.
      let start =
        flat.base.map { UnsafeRawPointer($0) }
        ?? UnsafeRawPointer(bitPattern: MemoryLayout<ContentType>.alignment).unsafelyUnwrapped
      return try body(start.assumingMemoryBound(to: ContentType.self))
    }
  }

  /// The same bytes in one piece.
  func mapped() -> DispatchData {
    guard let root else { return self }
    let flat = root.flattened()
    return DispatchData(owner: flat, base: flat.start, count: length)
  }

  /// Calls `block` with each contiguous stretch of bytes, in order, until it asks to stop.
  ///
  /// - Parameter block: runs on the calling thread, for each stretch: the bytes, good until it returns; the
  ///   index of the first of them; and whether to stop, `false` at first.
  /// - Source: `dispatch_data_apply(3)`.
  public func enumerateBytes(
    _ block: (_ buffer: UnsafeBufferPointer<UInt8>, _ byteIndex: Int, _ stop: inout Bool) -> Void
  ) {
    // Whoever asks to stop is not asked again, so the same variable serves every stretch.
    _ = forEachRegion(in: 0..<length, block)
  }

  /// Calls `body` with each contiguous stretch of the bytes in `range`, which are all there, and the index
  /// of its first byte, until it sets `stop`. Returns whether it did not.
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

  /// The contiguous stretch of bytes around a location. O(log n).
  ///
  /// - Parameter location: the index of a byte.
  /// - Returns: the stretch, and the index of its first byte. `(.empty, count)` if there is no such byte.
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

  /// The bytes in a range, as a value that shares them. O(log n).
  ///
  /// - Parameter range: what lies behind the end is left out. A range that begins before the first byte,
  ///   or behind the last, gives an empty value.
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

// MARK: An older name

extension DispatchData {
  /// Calls `block` with each contiguous stretch of bytes.
  // Disfavoured, or a trailing closure could mean either.
  @available(swift, deprecated: 4, renamed: "enumerateBytes(_:)") @_disfavoredOverload
  public func enumerateBytes(
    block: (_ buffer: UnsafeBufferPointer<UInt8>, _ byteIndex: Int, _ stop: inout Bool) -> Void
  ) {
    enumerateBytes(block)
  }
}

// MARK: Copying out

extension DispatchData {
  /// Copies bytes from the start.
  ///
  /// - Parameters:
  ///   - pointer: memory for `count` bytes.
  ///   - count: how many bytes; more than there are means all. A negative number stops the process.
  public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, count: Int) {
    checkCount(count)
    copy(0..<Swift.min(count, length), to: UnsafeMutableRawPointer(pointer))
  }

  /// Copies bytes from the start.
  ///
  /// - Parameters:
  ///   - pointer: where to. Too little memory stops the process.
  ///   - count: how many bytes; more than there are means all. A negative number stops the process.
  public func copyBytes(to pointer: UnsafeMutableRawBufferPointer, count: Int) {
    checkCount(count)
    copy(0..<Swift.min(count, length), to: pointer)
  }

  /// Copies the bytes in a range.
  ///
  /// - Parameters:
  ///   - pointer: memory for the range's bytes.
  ///   - range: what lies behind the end is left out, as in `subdata(in:)`.
  public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, from range: Range<Index>) {
    copy(existing(range), to: UnsafeMutableRawPointer(pointer))
  }

  /// Copies the bytes in a range.
  ///
  /// - Parameters:
  ///   - pointer: where to. Too little memory stops the process.
  ///   - range: what lies behind the end is left out, as in `subdata(in:)`.
  public func copyBytes(to pointer: UnsafeMutableRawBufferPointer, from range: Range<Index>) {
    copy(existing(range), to: pointer)
  }

  /// Copies as many bytes as there are and as fit.
  ///
  /// - Parameters:
  ///   - buffer: where to, from its first byte. It may end in a value that is only partly written.
  ///   - range: which bytes; all by default. A range that is not within the data stops the process.
  /// - Returns: how many bytes were copied.
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
      DispatchData.copyBytes(to:) of \(range.count) bytes to a buffer of \(target.count). Pass a buffer \
      with room for all of them, or a smaller count.
      """)
    if let start = target.baseAddress { copy(range, to: start) }
  }

  /// Copies bytes that are there to memory that has room for them.
  private func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    if range.isEmpty { return }
    withExtendedLifetime(self) {
      if let root { return root.copy(range, to: target) }
      target.copyMemory(from: base.unsafelyUnwrapped + range.lowerBound, byteCount: range.count)
    }
  }
}
