// Room: Work/NodeCache. Allocates nodes without malloc: a free list per thread, and a depot.
// A thread takes from and returns to its own list. A list that grows past two chains gives one
// chain of 64 nodes to the depot; an empty list takes at least as many from there, in the order of
// their addresses. So a thread that only submits and one that only runs visit the depot once every
// 64 items. A visit takes the depot's lock once.
// The memory of nodes is never unmapped: their type is stable.
public import CGrandCentralLinux

/// A cache of work nodes for each thread, with a depot that all threads share.
@usableFromInline enum NodeCache {
  @inlinable static var chainLength: Int { scaled(64, inModels: 4) }
  /// The number of nodes that a thread keeps before it gives a chain away.
  @inlinable static var maxKept: Int { scaled(128, inModels: 16) }
  static let depot = NodeDepot()

  /// Takes a node with undefined contents.
  @inlinable @inline(__always)
  static func take(_ thread: ThreadContext) -> WorkNode {
    guard let raw = thread.pointee.nodes else { return refill(thread) }
    // If it came from the depot, another core has written it.
    fetchForWriting(raw)
    thread.pointee.nodes = WorkNode(raw).next?.raw
    thread.pointee.node_count &-= 1
    return WorkNode(raw)
  }

  /// Returns `node` to the cache. Its contents must have been moved out.
  @inlinable @inline(__always)
  static func put(_ node: WorkNode, _ thread: ThreadContext) {
    #if DEBUG
      poison(node)
    #endif
    node.next = thread.pointee.nodes.map(WorkNode.init)
    thread.pointee.nodes = node.raw
    thread.pointee.node_count &+= 1
    if thread.pointee.node_count > maxKept { spill(thread) }
  }

  /// Returns all nodes of a thread to the depot, when the thread ends.
  static func drain(_ thread: ThreadContext) {
    while thread.pointee.node_count > chainLength { spill(thread) }
    guard let first = thread.pointee.nodes else { return }
    thread.pointee.nodes = nil
    depot.put(chain: first, count: Int(thread.pointee.node_count))
    thread.pointee.node_count = 0
  }

  @usableFromInline @inline(never)
  static func refill(_ thread: ThreadContext) -> WorkNode {
    let (first, count) = depot.take()
    thread.pointee.nodes = first.load(as: UnsafeMutableRawPointer?.self)
    thread.pointee.node_count = UInt32(count - 1)
    return WorkNode(first)
  }

  @usableFromInline @inline(never)
  static func spill(_ thread: ThreadContext) {
    guard let first = thread.pointee.nodes else { return }
    var last = WorkNode(first)
    for _ in 1..<chainLength {
      guard let next = last.next else { break }
      last = next
    }
    thread.pointee.nodes = last.next?.raw
    thread.pointee.node_count -= UInt32(chainLength)
    last.next = nil
    depot.put(chain: first, count: chainLength)
  }

  /// Overwrites a freed node, so that a later use faults on these bytes instead of corrupting
  /// memory. The sanitizers cannot see a free that never reaches malloc.
  @usableFromInline
  static func poison(_ node: WorkNode) {
    memset(node.raw + 8, 0x5a, WorkNode.bytes - 8)
  }
}
