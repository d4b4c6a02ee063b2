// Room: Data/DataNode+Change. Adding to a tree at either edge, joining two trees, cutting a tree.
// An addition happens on the level of its kind, at the edge where the two sides touch: a piece goes
// into a leaf, a node beside a node of its own height. A node that overflows splits off a sibling
// at that edge, which its parent takes in, and so on upwards; above the root, a new root takes
// both. Each step touches one node of a level. So each operation costs O(log n), with copies of at
// most 32 slots on each level where nodes are shared.

extension DataNode {
  /// Whether the reference at `place`, to a node, is the only one.
  @inline(__always)
  static func isUnique(_ place: UnsafeMutablePointer<AnyObject>) -> Bool {
    // SAFETY: callers pass only addresses of references to nodes. Rebound to the class, because the
    // answer for AnyObject is false in unoptimised builds.
    place.withMemoryRebound(to: DataNode.self, capacity: 1) {
      isKnownUniquelyReferenced(&$0.pointee)
    }
  }
}

/// The edge of a tree at which something is added.
enum DataEdge { case front, back }

extension DataNode {
  /// Ensures that the node at `place` has no other user and has room for `room` slots.
  static func own(_ place: UnsafeMutablePointer<AnyObject>, room: Int) -> NodeReference {
    let isUnique = isUnique(place)
    let node = NodeReference(at: place)
    if isUnique && node.room >= room {
      node.dropFlat()
      return node
    }
    let made = make(height: node.height, room: max(room, node.count))
    let copy = NodeReference(made)
    copy.header.pointee.count = node.count
    if isUnique {
      // Moved, not copied: no reference count changes.
      copy.slots.moveInitialize(from: node.slots, count: node.count)
      node.header.pointee.count = 0
    } else {
      copy.slots.initialize(from: node.slots, count: node.count)
    }
    place.pointee = made
    return copy
  }

  /// Adds the piece `slot` to the tree at `root`, at `edge`.
  static func add(
    _ slot: DataSlot, to edge: DataEdge, of root: UnsafeMutablePointer<AnyObject>
  ) {
    let overflow = descend(edge, of: root, to: 0) { insert(slot, at: edge, of: $0) }
    if let overflow { grow(root, by: overflow, at: edge) }
  }

  /// Joins the tree `other`, which must not be higher, to the tree at `root`.
  static func join(
    _ other: AnyObject, to edge: DataEdge, of root: UnsafeMutablePointer<AnyObject>
  ) {
    // SAFETY: both are nodes.
    let other = unsafeDowncast(other, to: DataNode.self)
    let overflow = descend(edge, of: root, to: NodeReference(other).height) {
      meet(other, at: edge, of: $0)
    }
    if let overflow { grow(root, by: overflow, at: edge) }
  }

  /// Puts a new root above the tree at `place` and its new sibling.
  private static func grow(
    _ place: UnsafeMutablePointer<AnyObject>, by sibling: DataSlot, at edge: DataEdge
  ) {
    // SAFETY: `place` refers to a node.
    let node = unsafeDowncast(place.pointee, to: DataNode.self)
    let height = NodeReference(node).height + 1
    place.pointee =
      edge == .back
      ? make(height: height, slots: DataSlot(node), sibling)
      : make(height: height, slots: sibling, DataSlot(node))
  }

  static func make(
    height: Int, slots first: consuming DataSlot, _ second: consuming DataSlot
  ) -> DataNode {
    let made = make(height: height, room: 2)
    let node = NodeReference(made)
    node.append(first)
    node.append(second)
    return made
  }

  /// Owns the nodes along an edge down to `height`, runs `act` on the last of them, and inserts
  /// overflowing siblings on the way back. Returns the sibling that overflows from the first.
  private static func descend(
    _ edge: DataEdge, of place: UnsafeMutablePointer<AnyObject>, to height: Int,
    _ act: (UnsafeMutablePointer<AnyObject>) -> DataSlot?
  ) -> DataSlot? {
    if NodeReference(at: place).height == height { return act(place) }
    let node = own(place, room: 0)
    let index = edge == .back ? node.count - 1 : 0
    let overflow = descend(edge, of: node.place(of: index), to: height, act)
    node.resize(index, to: node.child(index).bytes)
    guard let overflow else { return nil }
    return insert(overflow, at: edge, of: place)
  }

  /// Inserts `slot` into the node at `place`. If the node is full, returns a sibling with the slots
  /// nearest to the edge. The sibling gets few slots, because more additions are likely at that
  /// edge.
  private static func insert(
    _ slot: DataSlot, at edge: DataEdge, of place: UnsafeMutablePointer<AnyObject>
  ) -> DataSlot? {
    let count = NodeReference(at: place).count
    if count < maxSlots {
      let node = own(place, room: count + 1)
      if edge == .back { node.append(slot) } else { node.prepend(slot) }
      return nil
    }
    let node = own(place, room: count)
    let made = make(height: node.height, room: maxSlots)
    let sibling = NodeReference(made)
    let moved = minSlots - 1
    switch edge {
    case .back:
      node.moveLast(moved, to: sibling)
      sibling.append(slot)
    case .front:
      sibling.append(slot)
      node.moveFirst(moved, to: sibling)
    }
    return DataSlot(made)
  }

  /// Merges `other` and the node at `place`, of equal height, into at most two nodes that are full
  /// enough.
  private static func meet(
    _ other: DataNode, at edge: DataEdge, of place: UnsafeMutablePointer<AnyObject>
  ) -> DataSlot? {
    // SAFETY: `place` refers to a node.
    let there = unsafeDowncast(place.pointee, to: DataNode.self)
    let (left, right) = edge == .back ? (there, other) : (other, there)
    let (first, second) = (NodeReference(left), NodeReference(right))
    let total = first.count + second.count
    // Even if one node has room for all: copying slots takes longer than a node more in the parent.
    if min(first.count, second.count) >= minSlots { return DataSlot(other) }
    let half = total <= maxSlots ? total : total / 2
    let lower = make(height: first.height, room: half)
    let fromFirst = min(half, first.count)
    NodeReference(lower).append(first, 0..<fromFirst)
    NodeReference(lower).append(second, 0..<half - fromFirst)
    guard half < total else {
      place.pointee = lower
      return nil
    }
    let upper = make(height: first.height, room: total - half)
    NodeReference(upper).append(first, fromFirst..<first.count)
    NodeReference(upper).append(second, half - fromFirst..<second.count)
    place.pointee = edge == .back ? lower : upper
    return DataSlot(edge == .back ? upper : lower)
  }
}

// MARK: Slots of a node without another user

extension NodeReference {
  func append(_ slot: consuming DataSlot) {
    slot.end += bytes
    (slots + count).initialize(to: slot)
    header.pointee.count += 1
  }

  func append(_ other: NodeReference, _ range: Range<Int>) {
    append(other, range, change: bytes - other.start(of: range.lowerBound))
  }

  /// Appends slots of `other`, with their ends increased by `change`.
  // Slot by slot, and likewise where slots are released: for an array of slots the compiler calls
  // the runtime, which calls back for each.
  private func append(_ other: NodeReference, _ range: Range<Int>, change: Int) {
    let target = slots + (count - range.lowerBound)
    for index in range {
      var slot = other.slots[index]
      slot.end += change
      (target + index).initialize(to: slot)
    }
    header.pointee.count += range.count
  }

  func prepend(_ slot: DataSlot) {
    (slots + 1).moveInitialize(from: slots, count: count)
    slots.initialize(to: slot)
    header.pointee.count += 1
    for index in 1..<count { slots[index].end += slot.end }
  }

  /// Moves the last `number` slots to the end of `other`; no reference count changes.
  func moveLast(_ number: Int, to other: NodeReference) {
    let first = count - number
    let change = other.bytes - start(of: first)
    (other.slots + other.count).moveInitialize(from: slots + first, count: number)
    other.shiftEnds(other.count..<other.count + number, by: change)
    other.header.pointee.count += number
    header.pointee.count = first
  }

  /// Moves the first `number` slots to the end of `other`; no reference count changes.
  func moveFirst(_ number: Int, to other: NodeReference) {
    let gone = start(of: number)
    let change = other.bytes
    (other.slots + other.count).moveInitialize(from: slots, count: number)
    other.shiftEnds(other.count..<other.count + number, by: change)
    other.header.pointee.count += number
    header.pointee.count -= number
    slots.moveInitialize(from: slots + number, count: count)
    shiftEnds(0..<count, by: -gone)
  }

  private func shiftEnds(_ range: Range<Int>, by change: Int) {
    for index in range { slots[index].end += change }
  }

  /// Changes the number of bytes of the slot at `index`.
  @inline(__always)
  func resize(_ index: Int, to size: Int) {
    let change = size - self.size(of: index)
    for later in index..<count { slots[later].end += change }
  }
}

// MARK: Cutting

extension NodeReference {
  /// Returns the bytes in `range`, which must not be empty. Shares every piece, and every node that
  /// lies within.
  func cut(_ range: Range<Int>) -> DispatchData {
    let (first, last) = indices(of: range)
    if first == last { return cut(range, of: first) }
    if height == 0 { return cutLeaf(range, first, last) }
    var result = cut(range.lowerBound..<slots[first].end, of: first)
    if last - first == 2 {
      result.join(child: slots[first + 1].object)
    } else if last - first > 2 {
      let made = DataNode.make(height: height, room: last - first - 1)
      NodeReference(made).append(self, first + 1..<last)
      result.join(child: made)
    }
    result.join(cut(start(of: last)..<range.upperBound, of: last))
    return result
  }

  /// Returns the indices of the slots with the first and the last byte of `range`.
  // Both are counted in one pass over all slots. That takes less time than two binary searches,
  // because no step waits for another.
  @inline(__always)
  private func indices(of range: Range<Int>) -> (first: Int, last: Int) {
    var (first, last) = (0, 0)
    for index in 0..<count {
      let end = slots[index].end
      first &+= (end &- range.lowerBound &- 1).signBit
      last &+= (end &- range.upperBound).signBit
    }
    return (first, last)
  }

  /// Returns the bytes in `range`, which lies in one slot.
  private func cut(_ range: Range<Int>, of index: Int) -> DispatchData {
    let start = start(of: index)
    let inside = range.lowerBound - start..<range.upperBound - start
    if height == 0 {
      let base = slots[index].base.unsafelyUnwrapped + inside.lowerBound
      return DispatchData(owner: slots[index].object, base: base, count: inside.count)
    }
    if inside.count == size(of: index) { return DispatchData(root: slots[index].object) }
    return child(index).cut(inside)
  }

  private func cutLeaf(_ range: Range<Int>, _ first: Int, _ last: Int) -> DispatchData {
    let made = DataNode.make(height: 0, room: last - first + 1)
    let node = NodeReference(made)
    node.append(self, first..<last + 1, change: -range.lowerBound)
    let skipped = range.lowerBound - start(of: first)
    node.slots[0].base = node.slots[0].base.unsafelyUnwrapped + skipped
    node.slots[last - first].end = range.count
    return DispatchData(root: made)
  }
}
