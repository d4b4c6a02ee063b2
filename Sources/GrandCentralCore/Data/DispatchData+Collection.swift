// Room: Data/DispatchData+Collection. A collection of bytes with random access.
// What every byte passes through is inlinable: one comparison and one load while the bytes are in one piece,
// and in the iterator while they are in the same piece. The loads say that they need the value alive; without
// that the optimiser may let the owner go as soon as only the pointer is left in use.

extension DispatchData {
  /// 0.
  @inlinable
  public var startIndex: Index { 0 }

  /// The number of bytes.
  @inlinable
  public var endIndex: Index { length }

  /// The byte at an index, which must be one of the value's: others stop the process. O(log n).
  @inlinable
  public subscript(index: Index) -> UInt8 {
    if UInt(bitPattern: index) >= UInt(bitPattern: length) { failIndex(index) }
    guard let base else { return byteInTree(index) }
    let byte = base[index]
    _fixLifetime(owner)
    return byte
  }

  /// A view of the bytes in a range, which must lie within the value: others stop the process.
  public subscript(bounds: Range<Int>) -> Slice<DispatchData> {
    require(
      bounds.lowerBound >= 0 && bounds.upperBound <= length,
      """
      DispatchData[\(bounds)] of \(length) bytes. Use a range within startIndex..<endIndex, or \
      subdata(in:), which leaves out what is not there.
      """)
    return Slice(base: self, bounds: bounds)
  }

  @inlinable
  public func index(after i: Index) -> Index { i + 1 }

  @inlinable
  public func index(before i: Index) -> Index { i - 1 }

  @inlinable
  public func index(_ i: Index, offsetBy distance: Int) -> Index { i + distance }

  @inlinable
  public func distance(from start: Index, to end: Index) -> Int { end - start }

  /// An iterator over the bytes.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Calls `body` with the bytes if they lie in one piece; otherwise returns `nil`.
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    guard base != nil || length == 0 else { return nil }
    return try withExtendedLifetime(owner) {
      try body(UnsafeBufferPointer(start: base, count: length))
    }
  }

  /// Copies piece by piece, for `Array(data)` and the like.
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
public struct DispatchDataIterator: IteratorProtocol, Sequence {
  public typealias Element = UInt8

  @usableFromInline let data: DispatchData
  /// The rest of the piece that is being read. Apart from the cursor, and not seen by it, so that both stay in registers.
  // Never nil, which would be asked for at each byte: at first, and after the last byte, the two are the same somewhere.
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

  /// The next byte; `nil` at the end.
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

/// Goes through the pieces of a value, always the same one. It does not hold the value, which whoever has it hands in:
/// in builds without optimisation a value in here was not released when the iterator ended.
@usableFromInline
struct DataCursor {
  /// The index of the first byte that is still to come.
  private var offset: Int
  /// The slots that are still to come of a leaf of the tree, which the value holds.
  private var slots: UnsafeMutablePointer<DataSlot>?
  private var slotsLeft = 0
  private var leafStart = 0

  init(offset: Int) { self.offset = offset }

  /// The next piece; one without an address at the end.
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
