// Room: Data/DataObject. The object that holds a value of data for C programs.
// The owner of a piece in a tree may be the object that holds this piece: concat makes such trees.
// The piece's region is then this object. So a program that walks the tree, or asks for a region,
// gets an object that exists already, and no word caches it: the tree's references keep the objects
// of its regions. A program may hold no reference to such an object; it adds its first one while
// the tree keeps the object: see Work/ClientReferences.
// Invariant: the owner of an object's data is no DataObject. So chains of objects do not grow, and
// their deinit does not recurse, however often data is cut and joined.

package final class DataObject: DispatchObject, @unchecked Sendable {
  package let data: DispatchData

  /// Makes an object that holds `data`, whose owner must not be a DataObject.
  package init(_ data: DispatchData) {
    self.data = data
    super.init()
  }

  deinit { endAttachment() }

  /// Returns an object that holds `data`, with a reference that the program gets: that of the piece
  /// if it has one, otherwise a new one.
  package static func held(_ data: DispatchData) -> Unmanaged<DispatchObject> {
    guard let base = data.base, let owner = data.owner else {
      return heldByClient(DataObject(data))
    }
    defer { _fixLifetime(owner) }
    return held(Unmanaged.passUnretained(owner), base: base, count: data.length)
  }

  /// The same for a piece of `count` bytes that `owner` keeps alive. The caller holds the owner.
  private static func held(
    _ owner: Unmanaged<AnyObject>, base: UnsafePointer<UInt8>, count: Int
  ) -> Unmanaged<DispatchObject> {
    guard let object = object(owner, base: base, count: count) else {
      return heldByClient(made(owner, base: base, count: count))
    }
    object._withUnsafeGuaranteedRef { object in
      object.addClientReference(first: { object.holdFirst() })
    }
    return Unmanaged.fromOpaque(object.toOpaque())
  }

  /// Returns `owner` if it is the object of these very bytes.
  @inline(__always)
  fileprivate static func object(
    _ owner: Unmanaged<AnyObject>, base: UnsafePointer<UInt8>, count: Int
  ) -> Unmanaged<DataObject>? {
    guard let object = dataObject(owner) else { return nil }
    let data = object._withUnsafeGuaranteedRef { $0.data }
    return data.base == base && data.length == count ? object : nil
  }

  /// Makes the object of a piece.
  @inline(never)
  fileprivate static func made(
    _ owner: Unmanaged<AnyObject>, base: UnsafePointer<UInt8>, count: Int
  ) -> DataObject {
    let inner = dataObject(owner)?._withUnsafeGuaranteedRef { $0.data.owner }
    let owner = inner ?? owner.takeUnretainedValue()
    return DataObject(DispatchData(owner: owner, base: base, count: count))
  }

  @inline(__always)
  private static func dataObject(_ owner: Unmanaged<AnyObject>) -> Unmanaged<DataObject>? {
    let isObject = owner._withUnsafeGuaranteedRef {
      ObjectIdentifier(type(of: $0)) == ObjectIdentifier(DataObject.self)
    }
    // SAFETY: the class has been compared.
    return isObject ? Unmanaged.fromOpaque(owner.toOpaque()) : nil
  }
}

// MARK: Joining and cutting

extension DataObject {
  /// Returns an object of the bytes of both, of which neither may be empty.
  package static func joining(_ first: DataObject, _ second: DataObject) -> DataObject {
    let (left, right) = (first.data.root, second.data.root)
    let (leftSlots, rightSlots) = (left?.count ?? 1, right?.count ?? 1)
    let isLeaf =
      (left?.height ?? 0) + (right?.height ?? 0) == 0
      && min(leftSlots, rightSlots) < DataNode.minSlots
      && leftSlots + rightSlots <= DataNode.maxSlots
    guard isLeaf else {
      var joined = first.joinable
      joined.append(second.joinable)
      return DataObject(joined)
    }
    // The usual few pieces: faster than adding to a copy of a tree.
    first.data.requireCountable(second.data.length)
    let made = DataNode.make(height: 0, room: leftSlots + rightSlots)
    first.append(to: NodeReference(made))
    second.append(to: NodeReference(made))
    return DataObject(DispatchData(root: made))
  }

  /// The data for a tree: this object owns its only piece.
  private var joinable: DispatchData {
    guard let base = data.base else { return data }
    return DispatchData(owner: self, base: base, count: data.length)
  }

  private func append(to leaf: NodeReference) {
    if let root = data.root { return leaf.append(root, 0..<root.count) }
    leaf.append(DataSlot(object: self, base: data.base, end: data.length))
  }

  /// Returns an object of the bytes in `range`, which must exist, with a reference that the program
  /// gets.
  package func held(_ range: Range<Int>) -> Unmanaged<DispatchObject> {
    guard let base = data.base, let owner = data.owner else {
      return Self.held(data.subdata(in: range))
    }
    let piece = DispatchData(owner: owner, base: base + range.lowerBound, count: range.count)
    return Self.heldByClient(DataObject(piece))
  }
}

// MARK: Regions

extension DataObject {
  /// Returns the object of the contiguous stretch around `location`, which must exist, with a
  /// reference that the program gets, and the offset of the stretch. Only for a tree.
  package func heldRegion(at location: Int) -> (object: Unmanaged<DispatchObject>, offset: Int) {
    let (leaf, start) = data.root.unsafelyUnwrapped.leaf(at: location)
    let index = leaf.index(at: location - start)
    let piece = leaf.piece(index)
    let owner = NodeReference.owner(of: leaf.slots + index)
    let object = Self.held(
      owner, base: piece.baseAddress.unsafelyUnwrapped, count: piece.count)
    return (object, start + leaf.start(of: index))
  }

  /// A C function that receives a context, the object of a region, the region's offset, and its
  /// bytes. It returns false to end the walk.
  package typealias RegionFunction =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int, UnsafeRawPointer?, Int
    ) -> Bool

  /// Calls `work` with each contiguous stretch, until it returns false. Returns whether it did not.
  /// Accesses neither this object nor a node after the last call.
  package func forEachRegion(
    _ context: UnsafeMutableRawPointer?, _ work: RegionFunction
  ) -> Bool {
    if let root = data.root { return root.forEachRegion(origin: 0, context, work) }
    guard let base = data.base else { return true }
    return work(context, Unmanaged.passUnretained(self).toOpaque(), 0, base, data.length)
  }
}

extension NodeReference {
  /// Returns the owner of a leaf's piece, which the leaf retains.
  @inline(__always)
  fileprivate static func owner(of slot: UnsafeMutablePointer<DataSlot>) -> Unmanaged<AnyObject> {
    // SAFETY: the object is the first field of a slot.
    Unmanaged.fromOpaque(object(at: slot))
  }

  /// `origin` is the offset of the node.
  // A C function and its context, not a closure: besides the call, a piece costs few instructions.
  fileprivate func forEachRegion(
    origin: Int, _ context: UnsafeMutableRawPointer?, _ work: DataObject.RegionFunction
  ) -> Bool {
    var slot = slots
    let behind = slot + count
    var offset = origin
    if height > 0 {
      while slot < behind {
        let end = origin &+ slot.pointee.end
        let child = NodeReference(
          at: UnsafeMutableRawPointer(slot).assumingMemoryBound(to: AnyObject.self))
        if !child.forEachRegion(origin: offset, context, work) { return false }
        offset = end
        slot += 1
      }
      return true
    }
    while slot < behind {
      let end = origin &+ slot.pointee.end
      let (owner, base) = (Self.owner(of: slot), slot.pointee.base.unsafelyUnwrapped)
      let count = end &- offset
      if let object = DataObject.object(owner, base: base, count: count) {
        if !work(context, object.toOpaque(), offset, base, count) { return false }
      } else {
        let made = DataObject.made(owner, base: base, count: count)
        let handle = Unmanaged.passUnretained(made).toOpaque()
        let isContinued = work(context, handle, offset, base, count)
        _fixLifetime(made)
        if !isContinued { return false }
      }
      offset = end
      slot += 1
    }
    return true
  }
}

extension DispatchData {
  /// Whether all bytes are in one piece, or there are none.
  package var isContiguous: Bool { base != nil || length == 0 }

  /// The first byte of contiguous data.
  package var start: UnsafePointer<UInt8>? { base }

  /// The same bytes contiguously.
  package var flattened: DispatchData { mapped() }

  /// Returns `count` unset bytes. The caller writes them before it shares the value.
  package static func unset(count: Int) -> (data: DispatchData, start: UnsafeMutablePointer<UInt8>)
  {
    let own = OwnBytes.make(room: count)
    return (DispatchData(owner: own, base: own.start, count: count), own.start)
  }

  /// Makes data over a client's bytes that are never freed.
  package init(unfreed bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else {
      self = .empty
      return
    }
    self.init(
      owner: UnfreedBytes(), base: start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }
}

/// The owner of bytes that are never freed. Not one for all: threads would wait for its count.
private final class UnfreedBytes {}
