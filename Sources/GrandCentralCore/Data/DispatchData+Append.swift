// Room: Data/DispatchData+Append. Appending bytes and joining values.
// Joining keeps the pieces of both values, however small: programs make one iovec of each, and a
// client observes when its deallocator runs. Only bytes copied here share a buffer.
//
// A value that grows by a few bytes at a time must not become a tree of tiny pieces. Its last piece
// therefore has spare room, if it is a buffer made here that no other value uses, and grows in
// place. A small piece without room moves to a buffer twice as large. Behind a large piece a new
// buffer opens, up to twice as large as the last piece. So the room is proportional to the bytes
// appended, even while copies of the value keep the last piece from growing, and each byte is
// copied a bounded number of times on average.

extension DispatchData {
  /// The largest last piece that moves to a larger buffer when it must grow.
  private static var smallBytes: Int { 2048 }
  /// The largest piece read by a channel that is copied behind the piece before it; about the size
  /// of a slot.
  private static var tinyBytes: Int { 512 }
  private static var maxRoom: Int { 65536 }

  /// Appends a copy of bytes in memory. See `append(_:)`.
  ///
  /// - Parameters:
  ///   - bytes: the first byte; the memory is not used after the call.
  ///   - count: the number of bytes. Traps if negative.
  /// - Source: Apple, Dispatch, `DispatchData.append(_:count:)`.
  public mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
    require(count >= 0, "DispatchData.append(_:count:) of \(count) bytes. Pass 0 or more.")
    append(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// Appends a copy of the bytes in a raw buffer.
  ///
  /// The bytes go behind those of the last region if there is room, otherwise into a region of
  /// their own. Amortised O(bytes appended) while the value has no copies, plus O(log n) otherwise.
  ///
  /// - Parameter bytes: the bytes; not used after the call. Traps if the total exceeds `Int.max`
  ///   bytes.
  /// - Source: `dispatch_data_create_concat(3)`.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    requireCountable(bytes.count)
    let source = start.assumingMemoryBound(to: UInt8.self)
    if !extend(by: source, bytes.count) { appendSlowly(source, bytes.count) }
  }

  /// Appends a copy of the bytes of a typed buffer. See `append(_:)`.
  ///
  /// - Parameter buffer: the elements; not used after the call.
  /// - Source: Apple, Dispatch, `DispatchData.append(_:)`.
  public mutating func append<SourceType>(_ buffer: UnsafeBufferPointer<SourceType>) {
    append(UnsafeRawBufferPointer(buffer))
  }

  /// Appends another value without copying its bytes.
  ///
  /// The result shares the buffers and has the regions of both. O(log n); amortised O(1) for an
  /// `other` of one piece while this value has no copies.
  ///
  /// - Parameter other: the value. Traps if the total exceeds `Int.max` bytes.
  /// - Source: `dispatch_data_create_concat(3)`.
  public mutating func append(_ other: DispatchData) { join(other) }

  /// Appends bytes that a channel has read. Copies a few bytes in a buffer made here behind the
  /// last piece, so that a stream of tiny parts uses no more memory than its bytes.
  mutating func appendRead(_ other: DispatchData) {
    if length > 0, let bytes = other.base, other.length <= Self.tinyBytes,
      other.owner.map(OwnBytes.isOwn) == true
    {
      withExtendedLifetime(other) { append(bytes, count: other.length) }
    } else {
      join(other)
    }
  }

  /// Traps if `count` more bytes exceed `Int.max`.
  @inline(__always)
  func requireCountable(_ count: Int) {
    require(
      !length.addingReportingOverflow(count).overflow,
      """
      DispatchData of \(length) bytes cannot be joined with \(count) more: it can have at most \
      \(Int.max). Write or \
      hand over what there is before more is appended.
      """)
  }
}

// MARK: The last piece

extension DispatchData {
  /// Runs `body` on the address of the owner's reference, without a second reference to the owner.
  @inline(__always)
  private mutating func withPlace<Result>(
    _ body: (UnsafeMutablePointer<AnyObject>) -> Result
  ) -> Result {
    // SAFETY: there is an owner, and an optional reference has the layout of a non-optional one.
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

  /// Appends bytes when the last piece cannot grow in place.
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
    let wanted = Swift.min(2 * last.length, Self.maxRoom)
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
  /// The only piece of the value, as a slot for a tree.
  private var slot: DataSlot {
    DataSlot(object: owner.unsafelyUnwrapped, base: base, end: length)
  }

  /// Joins a child of a node to the end.
  mutating func join(child: AnyObject) { join(DispatchData(root: child)) }

  /// Joins `other` to the end without copying bytes. Holds no second reference to a tree that it
  /// changes.
  mutating func join(_ other: DispatchData) {
    if other.length == 0 { return }
    if length == 0 {
      self = other
      return
    }
    requireCountable(other.length)
    let total = length &+ other.length
    // Not in the switch itself, which would keep a copy of this value until its end.
    let heights = (root?.height, other.root?.height)
    switch heights {
    case (nil, nil):
      let first = DataSlot(object: owner.take().unsafelyUnwrapped, base: base.take(), end: length)
      owner = DataNode.make(height: 0, slots: first, other.slot)
    case (.some, nil):
      // SAFETY: the reference is read as a pointer, which takes no reference; `other` lives until
      // `_fixLifetime`.
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
