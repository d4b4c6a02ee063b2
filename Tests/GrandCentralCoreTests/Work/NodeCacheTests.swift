import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread's node cache") struct NodeCacheTests {
  /// Runs `body` on a new thread, whose list only this test uses.
  private func onOwnThread(_ body: @escaping @Sendable (ThreadContext) -> Void) {
    let ended = onThreads(1) { _ in
      let thread = currentThread()
      NodeCache.drain(thread)
      body(thread)
      NodeCache.drain(thread)
    }
    #expect(ended)
  }

  /// The length of a thread's list, counted.
  private static func length(_ thread: ThreadContext) -> Int {
    var count = 0
    var node = thread.pointee.nodes.map(WorkNode.init)
    while let current = node {
      count += 1
      node = current.next
    }
    return count
  }

  @Test func `come from the depot a chain at a time`() {
    onOwnThread { thread in
      #expect(thread.pointee.nodes == nil && thread.pointee.node_count == 0)
      let node = NodeCache.take(thread)
      // A shorter chain, the last of another thread, may come first.
      #expect((0..<129).contains(Int(thread.pointee.node_count)))
      #expect(Self.length(thread) == Int(thread.pointee.node_count))
      NodeCache.put(node, thread)
      #expect(Self.length(thread) == Int(thread.pointee.node_count))
    }
  }

  @Test func `are 64 bytes each, aligned, and all different`() {
    onOwnThread { thread in
      let nodes = (0..<3000).map { _ in NodeCache.take(thread) }
      let addresses = Set(nodes.map { UInt(bitPattern: $0.raw) })
      #expect(addresses.count == nodes.count)
      #expect(addresses.allSatisfy { $0 % UInt(WorkNode.bytes) == 0 })
      #expect(addresses.allSatisfy { UInt64($0) & ~LaneState.pendingMask == 0 })
      for node in nodes { NodeCache.put(node, thread) }
    }
  }

  @Test func `fill a region but for its header, and come back as they were taken`() throws {
    let region = try #require(NodeRegion())
    let perPage = NodeCache.chainLength
    var parts: [PageNodes] = []
    while let part = region.takeUnused() { parts.append(part) }
    #expect(parts.first?.mask.nonzeroBitCount == perPage - NodeRegion.headerNodes)
    #expect(parts.dropFirst().allSatisfy { $0.mask == PageNodes.all })
    #expect(parts.count == NodeRegion.bytes / (perPage * WorkNode.bytes))
    #expect(Set(parts.map(\.page)).count == parts.count)
    let header = region.start + NodeRegion.headerNodes * WorkNode.bytes
    #expect(parts.first?.linked(before: nil)?.raw == header)
    for part in parts.reversed() { region.put(part) }
    var back: [PageNodes] = []
    while let part = region.take() { back.append(part) }
    #expect(back.map(\.page) == parts.map(\.page))
    #expect(back.map(\.mask) == parts.map(\.mask))
  }

  /// The pages of memory that the kernel provides for the regions, without their first pages.
  private func backedPages(of regions: Set<UnsafeMutableRawPointer>) -> Int {
    let page = sysconf(Int32(_SC_PAGESIZE))
    return regions.reduce(0) { sum, region in
      var states = [UInt8](repeating: 0, count: NodeRegion.bytes / page - 1)
      #expect(mincore(region + page, NodeRegion.bytes - page, &states) == 0)
      return sum + states.count { $0 & 1 != 0 }
    }
  }

  @Test func `give the memory of pages back whose nodes are all free`() throws {
    let depot = NodeDepot()
    var chains: [(first: UnsafeMutableRawPointer, count: Int)] = []
    let pages = NodeRegion.bytes / PageNodes.bytes
    func take(_ count: Int) {
      for _ in 0..<count { chains.append(depot.take()) }
    }
    func putAll() {
      for chain in chains { depot.put(chain: chain.first, count: chain.count) }
      chains = []
    }
    func regions() -> Set<UnsafeMutableRawPointer> {
      Set(chains.map { NodeRegion(of: PageNodes(WorkNode($0.first))).start })
    }
    take(20 * pages)
    let all = regions()
    #expect(all.count == 20)
    // The nodes of one page stay in use.
    let used = chains.remove(at: 10 * pages + 5)
    WorkNode(used.first).next = WorkNode(used.first)
    putAll()
    // Unless the kernel has swapped some out.
    #expect(backedPages(of: all) > 18 * (pages - 1))
    depot.trim()
    // The first eight regions keep their memory.
    #expect(backedPages(of: all) <= 8 * (pages - 1) + 1)
    #expect(WorkNode(used.first).next?.raw == used.first)
    // The pages have their nodes again, and no region is made for them.
    take(15 * pages)
    #expect(regions().isSubset(of: all))
    let taken = chains.flatMap { nodes(from: $0.first) }
    #expect(taken.count == chains.reduce(0) { $0 + $1.count })
    #expect(Set(taken).count == taken.count)
    #expect(!taken.contains(used.first))
    putAll()
  }

  private func nodes(from first: UnsafeMutableRawPointer) -> [UnsafeMutableRawPointer] {
    var (nodes, next) = ([UnsafeMutableRawPointer](), Optional(WorkNode(first)))
    while let node = next {
      nodes.append(node.raw)
      next = node.next
    }
    return nodes
  }

  @Test func `keep the memory of a few regions`() {
    let depot = NodeDepot()
    let chains = (0..<2 * NodeRegion.bytes / PageNodes.bytes).map { _ in depot.take() }
    let regions = Set(chains.map { NodeRegion(of: PageNodes(WorkNode($0.first))).start })
    for chain in chains { depot.put(chain: chain.first, count: chain.count) }
    depot.trim()
    #expect(backedPages(of: regions) >= NodeRegion.bytes / PageNodes.bytes)
  }

  @Test func `are used again, the last one first`() {
    onOwnThread { thread in
      let first = NodeCache.take(thread)
      let second = NodeCache.take(thread)
      NodeCache.put(first, thread)
      NodeCache.put(second, thread)
      #expect(NodeCache.take(thread) == second)
      #expect(NodeCache.take(thread) == first)
      NodeCache.put(first, thread)
      NodeCache.put(second, thread)
    }
  }

  @Test func `return to the depot beyond two chains`() {
    onOwnThread { thread in
      let nodes = (0..<1000).map { _ in NodeCache.take(thread) }
      NodeCache.drain(thread)
      for (place, node) in nodes.enumerated() {
        NodeCache.put(node, thread)
        let count = Int(thread.pointee.node_count)
        #expect(count <= 2 * NodeCache.chainLength)
        #expect(Self.length(thread) == count)
        // Each put adds one node; a chain leaves when the list would hold 129.
        let expected = place < 128 ? place + 1 : (place - 128) % 64 + 65
        #expect(count == expected)
      }
    }
  }

  @Test(arguments: [1, 63, 64, 100])
  func `all go to the depot at the thread's end`(count: Int) {
    onOwnThread { thread in
      let nodes = (0..<count).map { _ in NodeCache.take(thread) }
      NodeCache.drain(thread)
      for node in nodes { NodeCache.put(node, thread) }
      #expect(Int(thread.pointee.node_count) == count)
      NodeCache.drain(thread)
      #expect(thread.pointee.nodes == nil && thread.pointee.node_count == 0)
    }
  }

  @Test func `are not lost by threads that only take or only return`() {
    let block = Box<[Captured]>([])
    let rounds = 20
    for _ in 0..<rounds {
      onOwnThread { thread in
        block.value = (0..<500).map { _ in Captured(node: NodeCache.take(thread)) }
      }
      onOwnThread { thread in
        for captured in block.value { NodeCache.put(captured.node, thread) }
      }
    }
    let nodes = Set(block.value.map { UInt(bitPattern: $0.node.raw) })
    #expect(nodes.count == 500)
  }

  private struct Captured: @unchecked Sendable { let node: WorkNode }

  @Test func `belong to one thread at a time`() {
    let inUse = Tally(4)
    let owners = Log<UInt>()
    let ended = onThreads(4) { number in
      let thread = currentThread()
      for round in 0..<2000 {
        let nodes = (0..<(round % 150)).map { _ in NodeCache.take(thread) }
        for node in nodes {
          node.context = UnsafeMutableRawPointer(bitPattern: number + 1)
          node.traits = WorkTraits(rawValue: UInt64(round))
        }
        for node in nodes
        where node.context != UnsafeMutableRawPointer(bitPattern: number + 1)
          || node.traits.rawValue != UInt64(round)
        {
          owners.append(UInt(bitPattern: node.raw))
        }
        for node in nodes { NodeCache.put(node, thread) }
      }
      inUse.add(number)
    }
    #expect(ended)
    #expect(inUse.exceptions.isEmpty)
    #expect(owners.all.isEmpty)
  }

  @Test func `fault when they are used after they were given back`() {
    onOwnThread { thread in
      let node = NodeCache.take(thread)
      memset(node.raw, 0, WorkNode.bytes)
      NodeCache.poison(node)
      let bytes = UnsafeRawBufferPointer(start: node.raw, count: WorkNode.bytes)
      #expect(bytes.prefix(8).allSatisfy { $0 == 0 })
      #expect(bytes.dropFirst(8).allSatisfy { $0 == 0x5a })
      NodeCache.put(node, thread)
    }
  }

  #if DEBUG
    @Test func `are poisoned in debug builds`() {
      onOwnThread { thread in
        let node = NodeCache.take(thread)
        node.context = nil
        NodeCache.put(node, thread)
        #expect(UInt(bitPattern: node.context) == 0x5a5a_5a5a_5a5a_5a5a)
      }
    }
  #endif
}
