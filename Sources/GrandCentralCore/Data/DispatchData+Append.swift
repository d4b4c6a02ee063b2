// Room: Data/DispatchData+Append. Bytes are copied behind the last piece, values are joined piece by piece.
// Joining keeps the pieces of both values, however small: programs make one iovec of each, and a
// client sees when its deallocator runs. Only bytes that are copied here share a buffer.
//
// A value that grows by few bytes at a time must not become a tree of tiny pieces. So its last piece, if it is
// a buffer of ours that nobody else sees, has spare room, and grows in place. A small one without room moves into
// a buffer twice as large; behind a large one a new buffer opens, up to twice as large as the last, so that
// room is only taken in proportion to what was really appended, also while copies of the value keep the
// last piece from growing. Each byte is so copied a bounded number of times on average.

extension DispatchData {
  /// Up to here a last piece moves when it has to grow.
  private static var smallBytes: Int { 2048 }
  /// Up to here what a channel has read is copied behind what it read before: about what a slot
  /// costs.
  private static var tinyBytes: Int { 512 }
  private static var mostRoom: Int { 65536 }

  /// Copies `count` bytes to the end. See `append(_:)`.
  ///
  /// - Parameters:
  ///   - bytes: the first byte; the memory is not used after the call.
  ///   - count: how many. A negative number stops the process.
  public mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
    require(count >= 0, "DispatchData.append(_:count:) of \(count) bytes. Pass 0 or more.")
    append(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// Copies some bytes to the end, behind the last region's bytes if there is room, or into a
  /// region of their own.
  ///
  /// Amortised O(bytes appended) while no copy of the value is alive, plus O(log n) if there is one.
  ///
  /// - Parameter bytes: is not used after the call.
  /// - Source: `dispatch_data_create_concat(3)`.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    requireCountable(bytes.count)
    let source = start.assumingMemoryBound(to: UInt8.self)
    if !extend(by: source, bytes.count) { appendSlowly(source, bytes.count) }
  }

  /// Copies the bytes of some values to the end. See `append(_:)`.
  ///
  /// - Parameter buffer: is not used after the call.
  public mutating func append<SourceType>(_ buffer: UnsafeBufferPointer<SourceType>) {
    append(UnsafeRawBufferPointer(buffer))
  }

  /// Joins `other` to the end.
  ///
  /// Shares its buffers and keeps its regions, so that the result has the regions of both. O(log
  /// n), amortised O(1) for an `other` of one piece while no copy of the value is alive.
  ///
  /// - Parameter other: stops the process if the two have more than `Int.max` bytes together.
  /// - Source: `dispatch_data_create_concat(3)`.
  public mutating func append(_ other: DispatchData) { join(other) }

  /// Adds what a channel has read to what it read before. A few bytes in a buffer of our own are
  /// copied behind the last piece, so that a stream which arrives in tiny parts takes no more
  /// memory than its bytes.
  mutating func appendRead(_ other: DispatchData) {
    if length > 0, let bytes = other.base, other.length <= Self.tinyBytes,
      other.owner.map(OwnBytes.isOwn) == true
    {
      withExtendedLifetime(other) { append(bytes, count: other.length) }
    } else {
      join(other)
    }
  }

  /// Stops unless `count` more bytes can be counted.
  @inline(__always)
  private func requireCountable(_ count: Int) {
    require(
      !length.addingReportingOverflow(count).overflow,
      """
      DispatchData of \(length) bytes cannot be joined with \(count) more: it can have at most \(Int.max). Write or \
      hand over what there is before more is appended.
      """)
  }
}

// MARK: At the last piece

extension DispatchData {
  /// Runs `body` on where the owner's reference stands, without a second one to it meanwhile.
  @inline(__always)
  private mutating func withPlace<Result>(
    _ body: (UnsafeMutablePointer<AnyObject>) -> Result
  ) -> Result {
    // SAFETY: there is an owner, and a reference that may be nil lies in memory as one that may not.
    withUnsafeMutablePointer(to: &owner) {
      body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: AnyObject.self))
    }
  }

  private mutating func extend(by source: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard owner != nil else { return false }
    if let base {
      let end = base + length
      let room = withPlace { OwnBytes.spareRoom(count, behind: end, of: $0) }
      guard let room else { return false }
      room.initialize(from: source, count: count)
    } else {
      guard withPlace({ DataNode.extend($0, by: source, count) }) else { return false }
    }
    length += count
    return true
  }

  /// Where the last piece cannot grow.
  @inline(never)
  private mutating func appendSlowly(_ source: UnsafePointer<UInt8>, _ count: Int) {
    let last = lastPiece
    let bytes = UnsafeRawBufferPointer(start: source, count: count)
    guard let owner = last.owner, OwnBytes.isOwn(owner) else {
      return join(DispatchData(copying: bytes, room: Swift.max(count, 64)))
    }
    let together = last.length + count
    if together <= Self.smallBytes {
      let larger = OwnBytes.make(room: Swift.max(2 * together, 64))
      larger.start.initialize(from: last.base.unsafelyUnwrapped, count: last.length)
      (larger.start + last.length).initialize(from: source, count: count)
      return replaceLastPiece(
        by: DispatchData(owner: larger, base: larger.start, count: together))
    }
    let wanted = Swift.min(2 * last.length, Self.mostRoom)
    join(DispatchData(copying: bytes, room: 2 * count <= wanted ? wanted : count))
  }

  private var lastPiece: DispatchData {
    guard let root else { return self }
    let (place, bytes) = root.last
    return DispatchData(
      owner: place.pointee, base: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count)
  }

  private mutating func replaceLastPiece(by piece: DispatchData) {
    guard base == nil else {
      self = piece
      return
    }
    let slot = piece.slot
    withPlace { DataNode.replaceLast(slot, in: $0) }
    length = root.unsafelyUnwrapped.bytes
  }
}

// MARK: Joining

extension DispatchData {
  /// The value's only piece for a tree.
  private var slot: DataSlot {
    DataSlot(object: owner.unsafelyUnwrapped, base: base, end: length)
  }

  /// Joins a child of a node to the end.
  mutating func join(child: AnyObject) { join(DispatchData(root: child)) }

  /// Joins `other` to the end and copies no bytes. Holds no second reference to a tree while it is changed.
  mutating func join(_ other: DispatchData) {
    if other.length == 0 { return }
    if length == 0 {
      self = other
      return
    }
    requireCountable(other.length)
    let total = length &+ other.length
    // Not in the switch itself, which would keep a copy of this value to its end.
    let heights = (root?.height, other.root?.height)
    switch heights {
    case (nil, nil):
      let first = DataSlot(object: owner.take().unsafelyUnwrapped, base: base.take(), end: length)
      owner = DataNode.make(height: 0, slots: first, other.slot)
    case (.some, nil):
      // SAFETY: read as the pointer that it is, which takes no reference; `other` lives to the end.
      let added = Unmanaged<AnyObject>.fromOpaque(
        unsafeBitCast(other.owner, to: UnsafeRawPointer?.self).unsafelyUnwrapped)
      let (start, count) = (other.base.unsafelyUnwrapped, other.length)
      let isDone = withPlace { DataNode.append(added, start, count, inPlaceOf: $0) }
      _fixLifetime(other)
      if !isDone {
        let slot = other.slot
        withPlace { DataNode.add(slot, to: .back, of: $0) }
      }
    case (nil, .some):
      let slot = slot
      self = other
      withPlace { DataNode.add(slot, to: .front, of: $0) }
    case (.some(let height), .some(let others)) where height >= others:
      let added = other.owner.unsafelyUnwrapped
      withPlace { DataNode.join(added, to: .back, of: $0) }
    case (.some, .some):
      let added = owner.unsafelyUnwrapped
      self = other
      withPlace { DataNode.join(added, to: .front, of: $0) }
    }
    length = total
  }
}
