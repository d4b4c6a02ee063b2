// Room: Work/NodeDepot. The free nodes that all threads share.
// It keeps no list of them, but a bit for each, and hands them out in the order of their addresses.
// A list would have the order in which the items ended. With several submitters each use of a node
// mixes that order more, until neighbours in a list are in different pages. Then each step of the
// submitter and of both walks of the drain (over the pending list, over the private list) waits for
// memory. Nodes in order are fetched by the processor before they are needed.
// The lock guards the lists of regions and the headers of all regions. A node itself is accessed
// without the lock, by the thread that has it: before its bit is set, or after it is cleared. So a
// thread that gives the memory of a page back to the kernel (`trim`) first takes its nodes.
import CGrandCentralLinux

final class NodeDepot: @unchecked Sendable {
  private let lock = Lock()
  /// The regions that may have free nodes, the one first in which nodes came back last.
  @Cell private var regions: NodeRegion? = nil
  /// The region with unused pages. The others follow it, as `older`.
  @Cell private var newest: NodeRegion? = nil
  @Cell private var regionCount = 0
  /// The last region that keeps its memory.
  @Cell private var lastKept: NodeRegion? = nil
  /// The region that trim() looks at next; `nil`: the newest.
  @Cell private var nextToTrim: NodeRegion? = nil
  private let hasReported = Atomic<Bool>(false)

  /// Takes a chain of `count` nodes.
  func put(chain first: UnsafeMutableRawPointer, count: Int) {
    withUnsafeTemporaryAllocation(of: PageNodes.self, capacity: count) { parts in
      // Neighbours of one page are one part.
      var last = PageNodes(WorkNode(first))
      var end = 0
      var rest = WorkNode(first).next
      while let node = rest {
        rest = node.next
        let own = PageNodes(node)
        if own.page == last.page {
          last.mask |= own.mask
        } else {
          parts.initializeElement(at: end, to: last)
          end += 1
          last = own
        }
      }
      parts.initializeElement(at: end, to: last)
      lock.withLock { for part in parts[...end] { put(part) } }
    }
  }

  /// Returns a chain of nodes, and their number: at least 64, if so many are free, and less than
  /// twice as many.
  func take() -> (first: UnsafeMutableRawPointer, count: Int) {
    withUnsafeTemporaryAllocation(of: PageNodes.self, capacity: NodeCache.chainLength) { parts in
      var (end, count) = lock.withLock { take(into: parts) }
      while end == 0 {
        // Nodes come back when items have run.
        reportRefusal()
        gc_wait_for_memory()
        (end, count) = lock.withLock { take(into: parts) }
      }
      var first: WorkNode?
      for part in parts[..<end].reversed() { first = part.linked(before: first) }
      guard let first else { engineFault("The node depot is empty after a new region.") }
      return (first.raw, count)
    }
  }

  /// Gives the memory of pages whose nodes are all free back to the kernel, except in the regions
  /// made first. Looks at `limit` regions, behind those that the last call looked at. The next use
  /// of such a page costs a page fault for 64 nodes. The calling thread may be any.
  func trim(atMost limit: Int = .max) {
    let thread = currentThread()
    var left = lock.withLock { min(limit, regionCount - Self.regionsKept) }
    while left > 0 {
      left -= 1
      // A child that is forked in between would lose the nodes.
      ForkGate.inside(thread) { trimNext() }
    }
  }

  private func trimNext() {
    guard let (region, pages) = lock.withLock({ takeIdlePages() }), pages != 0 else { return }
    // Another thread may find the depot empty meanwhile, and then makes a region of 128 KiB.
    region.release(pages)
    lock.withLock { for nodes in region.nodes(of: pages) { put(nodes) } }
  }

  /// The number of regions that keep their memory: 1 MiB.
  private static var regionsKept: Int { scaled(8, inModels: 0) }

  /// Calls `body` for each free node, and forgets them. For a model, which starts anew each time
  /// and keeps its own account of nodes.
  func forget(_ body: (WorkNode) -> Void = { _ in }) {
    lock.withLock {
      while let part = takeFree() {
        var node = part.linked(before: nil)
        while let next = node {
          node = next.next
          body(next)
        }
      }
      (newest, lastKept, nextToTrim) = (nil, nil, nil)
      regionCount = 0
    }
  }

  // MARK: With the lock held

  private func put(_ nodes: PageNodes) {
    let region = NodeRegion(of: nodes)
    region.put(nodes)
    if region.isListed { return }
    region.isListed = true
    region.next = regions
    regions = region
  }

  /// Returns the number of parts, each of one page, and the number of their nodes.
  private func take(into parts: UnsafeMutableBufferPointer<PageNodes>) -> (end: Int, count: Int) {
    var (end, count) = (0, 0)
    while count < NodeCache.chainLength, let part = takeFree() {
      parts.initializeElement(at: end, to: part)
      end += 1
      count += part.mask.nonzeroBitCount
    }
    if end > 0 { return (end, count) }
    guard let unused = takeUnused() else { return (0, 0) }
    parts.initializeElement(at: 0, to: unused)
    return (1, unused.mask.nonzeroBitCount)
  }

  private func takeFree() -> PageNodes? {
    while let region = regions {
      if let nodes = region.take() { return nodes }
      region.isListed = false
      regions = region.next
    }
    return nil
  }

  private func takeUnused() -> PageNodes? {
    if let nodes = newest?.takeUnused() { return nodes }
    guard let region = NodeRegion() else { return nil }
    region.older = newest
    newest = region
    regionCount += 1
    if regionCount == Self.regionsKept { lastKept = region }
    return region.takeUnused()
  }

  /// Takes the nodes of the next region's pages that have memory and whose nodes are all free.
  private func takeIdlePages() -> (NodeRegion, pages: UInt64)? {
    guard regionCount > Self.regionsKept, let region = nextToTrim ?? newest else { return nil }
    let older = region.older
    nextToTrim = older?.start == lastKept?.start ? nil : older
    return (region, region.takeIdlePages())
  }

  // MARK: Refused memory

  /// Reports, once, that a submission waits for memory.
  private func reportRefusal() {
    guard !hasReported.exchange(true, ordering: .relaxed) else { return }
    report(
      .memoryRefused,
      """
      GRAND CENTRAL: The system refused memory for further work items. Submissions wait until \
      items have run.
      Raise the limit on memory (ulimit -v), or bound how many items wait.
      """)
  }
}
