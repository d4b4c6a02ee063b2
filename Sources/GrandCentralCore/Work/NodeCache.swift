// Room: Work/NodeCache. Nodes without malloc: a free list per thread, a depot between threads.
// A thread takes from and gives to its own list, unshared. A list that grows past two chains gives
// one chain of 64 to the depot; an empty one takes a chain from there, or carves a new slab. So a
// thread that only submits and one that only runs meet at the depot once every 64 items.
// Slabs are never returned: nodes are type-stable memory. The depot's lock is taken once a chain.
public import CLinux

public enum NodeCache {
  @inlinable static var chainLength: Int { scaled(64, inModels: 4) }
  /// How many nodes a thread keeps before it gives a chain away.
  @inlinable static var mostKept: Int { scaled(128, inModels: 16) }
  static let depot = NodeDepot()

  /// A node with undefined contents.
  @inlinable @inline(__always)
  static func take(_ thread: ThreadContext) -> WorkNode {
    guard let raw = thread.pointee.nodes else { return refill(thread) }
    thread.pointee.nodes = WorkNode(raw).next?.raw
    thread.pointee.node_count &-= 1
    return WorkNode(raw)
  }

  /// Gives `node` back. Its contents must have been moved out.
  @inlinable @inline(__always)
  static func put(_ node: WorkNode, _ thread: ThreadContext) {
    #if DEBUG
      poison(node)
    #endif
    node.next = thread.pointee.nodes.map(WorkNode.init)
    thread.pointee.nodes = node.raw
    thread.pointee.node_count &+= 1
    if thread.pointee.node_count > mostKept { spill(thread) }
  }

  /// Gives all of a thread's nodes to the depot, at the thread's end.
  static func drain(_ thread: ThreadContext) {
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

  /// A node that is used after it was given back faults on these bytes instead of doing harm
  /// somewhere else. The sanitizers cannot see a free that never reaches malloc.
  @usableFromInline
  static func poison(_ node: WorkNode) {
    memset(node.raw + 8, 0x5a, WorkNode.bytes - 8)
  }
}

/// Chains of free nodes. Guarded by its lock, all of it. A chain's first node keeps the chain's length
/// in its context and the next chain in its companion: both are unused in a free node.
final class NodeDepot: @unchecked Sendable {
  private let lock = Lock()
  @Cell private(set) var chains: WorkNode? = nil
  private static var slabNodes: Int { scaled(1024, inModels: 4) }

  func put(chain first: UnsafeMutableRawPointer, count: Int) {
    let node = WorkNode(first)
    node.context = UnsafeMutableRawPointer(bitPattern: count)
    lock.withLock {
      node.companion = chains?.raw
      chains = node
    }
  }

  func take() -> (first: UnsafeMutableRawPointer, count: Int) {
    lock.withLock {
      if chains == nil { carveSlab() }
      guard let first = chains else { engineFault("The node depot is empty after a new slab.") }
      chains = first.companion.map(WorkNode.init)
      return (first.raw, Int(bitPattern: first.context))
    }
  }

  /// Gives up all that it holds. For a model, which begins anew each time and keeps its own account of nodes.
  func forget() { lock.withLock { chains = nil } }

  private func carveSlab() {
    let slab = UnsafeMutableRawPointer.allocate(
      byteCount: Self.slabNodes * WorkNode.bytes, alignment: WorkNode.bytes)
    for start in stride(from: 0, to: Self.slabNodes, by: NodeCache.chainLength) {
      for index in start..<start + NodeCache.chainLength {
        let isLast = index == start + NodeCache.chainLength - 1
        let node = WorkNode(slab + index * WorkNode.bytes)
        node.next = isLast ? nil : WorkNode(slab + (index + 1) * WorkNode.bytes)
      }
      let first = WorkNode(slab + start * WorkNode.bytes)
      first.context = UnsafeMutableRawPointer(bitPattern: NodeCache.chainLength)
      first.companion = chains?.raw
      chains = first
    }
  }
}
