// Room: Data/DispatchData+Collection. Random access to the bytes as a collection.
// The path of each byte is inlinable: one comparison and one load for a value of one piece, and in
// the iterator within a piece. Each load is followed by `_fixLifetime`; without it the optimiser
// may release the owner once only the pointer is in use.

extension DispatchData {
  /// The index of the first byte, which is 0.
  @inlinable
  public var startIndex: Index { 0 }

  /// The index behind the last byte, which is `count`.
  @inlinable
  public var endIndex: Index { length }

  /// The byte at an index. O(log n).
  ///
  /// - Parameter index: an index from `startIndex` up to but not including `endIndex`. Traps
  ///   otherwise.
  /// - Returns: the byte.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public subscript(index: Index) -> UInt8 {
    if UInt(bitPattern: index) >= UInt(bitPattern: length) { failIndex(index) }
    guard let base else { return byteInTree(index) }
    let byte = base[index]
    _fixLifetime(owner)
    return byte
  }

  /// A view of the bytes in a range.
  ///
  /// - Parameter bounds: a range within `startIndex..<endIndex`. Traps otherwise.
  /// - Returns: a slice that shares the bytes.
  /// - Source: Apple, Dispatch, `DispatchData`.
  public subscript(bounds: Range<Int>) -> Slice<DispatchData> {
    require(
      bounds.lowerBound >= 0 && bounds.upperBound <= length,
      """
      DispatchData[\(bounds)] of \(length) bytes. Use a range within startIndex..<endIndex, or \
      subdata(in:), which leaves out what is not there.
      """)
    return Slice(base: self, bounds: bounds)
  }

  /// Returns the next index.
  ///
  /// - Parameter i: an index.
  /// - Returns: `i + 1`, without a check of the bounds.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public func index(after i: Index) -> Index { i + 1 }

  /// Returns the previous index.
  ///
  /// - Parameter i: an index.
  /// - Returns: `i - 1`, without a check of the bounds.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public func index(before i: Index) -> Index { i - 1 }

  /// Returns the index at a distance from another.
  ///
  /// - Parameters:
  ///   - i: an index.
  ///   - distance: the number of bytes; negative to move towards the start.
  /// - Returns: `i + distance`, without a check of the bounds.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public func index(_ i: Index, offsetBy distance: Int) -> Index { i + distance }

  /// Returns the distance between two indices.
  ///
  /// - Parameters:
  ///   - start: an index.
  ///   - end: an index.
  /// - Returns: `end - start`, in bytes.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public func distance(from start: Index, to end: Index) -> Int { end - start }

  /// Makes an iterator over the bytes.
  ///
  /// - Returns: an iterator that keeps the bytes alive.
  /// - Source: Apple, Dispatch, `DispatchData`.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Calls a closure with the bytes if they lie in one piece.
  ///
  /// - Parameter body: runs at most once, on the calling thread. The buffer is valid until it
  ///   returns.
  /// - Returns: the result of `body`; `nil` if the bytes lie in several pieces.
  /// - Throws: the error of `body`.
  /// - Source: Apple, Swift, `Sequence.withContiguousStorageIfAvailable(_:)`.
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    guard base != nil || length == 0 else { return nil }
    return try withExtendedLifetime(owner) {
      try body(UnsafeBufferPointer(start: base, count: length))
    }
  }

  /// Copies the bytes piece by piece, for `Array(data)` and similar calls.
  public func _copyContents(
    initializing buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (Iterator, UnsafeMutableBufferPointer<UInt8>.Index) {
    let copied = copyBytes(to: buffer)
    return (Iterator(self, from: copied), copied)
  }

  @usableFromInline @inline(never)
  func byteInTree(_ index: Int) -> UInt8 {
    let (leaf, start) = root.unsafelyUnwrapped.leaf(at: index)
    let slot = leaf.index(at: index - start)
    let bytes = leaf.piece(slot)
    let byte = bytes[index - start - leaf.start(of: slot)]
    _fixLifetime(owner)
    return byte
  }

  @usableFromInline @inline(never)
  func failIndex(_ index: Int) -> Never {
    clientFault(
      "DispatchData[\(index)] of \(length) bytes. Use an index within startIndex..<endIndex.")
  }
}

/// An iterator over the bytes of a `DispatchData`.
///
/// - Source: Apple, Dispatch, `DispatchDataIterator`.
// It has pointers to bytes that never change, and keeps them alive.
public struct DispatchDataIterator: IteratorProtocol, Sequence, @unchecked Sendable {
  /// The type of a byte.
  public typealias Element = UInt8

  @usableFromInline let data: DispatchData
  /// The unread rest of the current piece. Kept apart from the cursor, which does not access it, so
  /// that both pointers stay in registers.
  // Never nil, to save a check for each byte. Before the first and after the last byte both are
  // equal.
  @usableFromInline var position: UnsafePointer<UInt8>
  @usableFromInline var end: UnsafePointer<UInt8>
  @usableFromInline var cursor: DataCursor

  @usableFromInline
  init(_ data: DispatchData) { self.init(data, from: 0) }

  init(_ data: DispatchData, from offset: Int) {
    self.data = data
    position = UnsafePointer(bitPattern: 1).unsafelyUnwrapped
    end = position
    cursor = DataCursor(offset: offset)
  }

  /// Returns the next byte.
  ///
  /// - Returns: the byte; `nil` at the end.
  /// - Source: Apple, Dispatch, `DispatchDataIterator`.
  @inlinable
  public mutating func next() -> DispatchData.Element? {
    if position == end {
      let piece = cursor.nextPiece(of: data)
      guard let base = piece.baseAddress else { return nil }
      position = base
      end = base + piece.count
    }
    let byte = position.pointee
    position += 1
    // Not around the load: a closure would take a reference for each byte.
    _fixLifetime(data)
    return byte
  }
}

/// The position of a walk through the pieces of one value. The caller passes that value to each
/// call. The cursor does not hold it: in unoptimised builds a value stored here was not released
/// when the iterator ended.
@usableFromInline
struct DataCursor {
  /// The index of the first unread byte.
  private var offset: Int
  /// The unread slots of a leaf of the tree, which the value keeps alive.
  private var slots: UnsafeMutablePointer<DataSlot>?
  private var slotsLeft = 0
  private var leafStart = 0

  init(offset: Int) { self.offset = offset }

  /// Returns the next piece; at the end, one without an address.
  @usableFromInline @inline(never)
  mutating func nextPiece(of data: DispatchData) -> UnsafeBufferPointer<UInt8> {
    guard offset < data.length else { return UnsafeBufferPointer(start: nil, count: 0) }
    if let base = data.base {
      defer { offset = data.length }
      return UnsafeBufferPointer(start: base + offset, count: data.length - offset)
    }
    var skipped = 0
    if slotsLeft == 0 {
      let (leaf, start) = data.root.unsafelyUnwrapped.leaf(at: offset)
      let index = leaf.index(at: offset - start)
      slots = leaf.slots + index
      slotsLeft = leaf.count - index
      leafStart = start
      skipped = offset - start - leaf.start(of: index)
    }
    let slot = slots.unsafelyUnwrapped
    let pieceEnd = leafStart + slot.pointee.end
    defer { offset = pieceEnd }
    slots = slot + 1
    slotsLeft -= 1
    return UnsafeBufferPointer(
      start: slot.pointee.base.unsafelyUnwrapped + skipped, count: pieceEnd - offset)
  }
}
