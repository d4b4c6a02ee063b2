// Room: Work/NodeRegion. The memory of nodes: 128 KiB at a multiple of 128 KiB, never unmapped.
//   header   in place of the first nodes: a bit for each node that is free, a summary, links
//   nodes    64 in each page. The kernel provides a page when a thread first takes its nodes, and
//            takes it back when all of them are free (NodeDepot.trim)
// The address of a node leads to its region, and to its bit there. A bit is set while its node is
// free and in no thread's list.
// Invariant: the depot's lock guards the header.
import CGrandCentralLinux

/// Nodes of one page: a bit for each.
struct PageNodes {
  let page: UnsafeMutableRawPointer
  var mask: UInt64

  /// As many nodes as there are in a chain.
  static var bytes: Int { NodeCache.chainLength * WorkNode.bytes }
  static var all: UInt64 { .max >> UInt64(64 - NodeCache.chainLength) }

  init(page: UnsafeMutableRawPointer, mask: UInt64) {
    self.page = page
    self.mask = mask
  }

  init(_ node: WorkNode) {
    let offset = Int(UInt(bitPattern: node.raw) & UInt(Self.bytes - 1))
    page = node.raw - offset
    mask = 1 << UInt64(offset / WorkNode.bytes)
  }

  /// Links the nodes in the order of their addresses, in front of `rest`, and returns the first.
  func linked(before rest: WorkNode?) -> WorkNode? {
    var first = rest
    func link(_ index: Int) {
      let node = WorkNode(page + index * WorkNode.bytes)
      node.next = first
      first = node
    }
    if mask == Self.all {
      for index in (0..<NodeCache.chainLength).reversed() { link(index) }
      return first
    }
    var left = mask
    while left != 0 {
      let index = 63 - left.leadingZeroBitCount
      left &= ~(1 << UInt64(index))
      link(index)
    }
    return first
  }
}

struct NodeRegion {
  static var bytes: Int { scaled(1 << 17, inModels: 1 << 13) }
  private static var pages: Int { bytes / PageNodes.bytes }
  private static var summaries: Int { (pages + 63) / 64 }
  /// The number of nodes that the header takes the place of; in models a whole number of pages.
  static var headerNodes: Int {
    let unit = WorkNode.bytes * scaled(1, inModels: NodeCache.chainLength)
    let bytes = pages * 8 + 32 + summaries * 8
    return (bytes + unit - 1) / unit * unit / WorkNode.bytes
  }

  let start: UnsafeMutableRawPointer

  /// Makes a region whose nodes are all unused; `nil`: the system refused the memory.
  init?() {
    invariant(Self.pages <= 64, "A region has more pages than a word has bits.")
    guard let memory = gc_reserve_memory(Self.bytes) else { return nil }
    start = memory
    used.pointee = UInt32(Self.headerNodes / NodeCache.chainLength)
  }

  init(start: UnsafeMutableRawPointer) { self.start = start }

  init(of nodes: PageNodes) {
    start = nodes.page - Int(UInt(bitPattern: nodes.page) & UInt(Self.bytes - 1))
  }

  // The header. The kernel provides it zeroed.

  private func field<Value>(_ offset: Int, _ type: Value.Type) -> UnsafeMutablePointer<Value> {
    willWrite(start)
    return (start + offset).assumingMemoryBound(to: type)
  }

  /// The free nodes of each page.
  private var masks: UnsafeMutablePointer<UInt64> { field(0, UInt64.self) }
  /// A bit for each page that has free nodes.
  private var summary: UnsafeMutablePointer<UInt64> { field(Self.pages * 8 + 32, UInt64.self) }
  /// A bit for each page that has memory: its nodes were taken since the kernel provided it.
  private var backed: UnsafeMutablePointer<UInt64> { field(Self.pages * 8 + 24, UInt64.self) }
  /// The region made before this one.
  private var madeBefore: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    field(Self.pages * 8 + 16, UnsafeMutableRawPointer?.self)
  }
  /// The number of pages that are full of the header, or whose nodes were taken once.
  private var used: UnsafeMutablePointer<UInt32> { field(Self.pages * 8 + 12, UInt32.self) }
  private var listed: UnsafeMutablePointer<UInt32> { field(Self.pages * 8 + 8, UInt32.self) }
  private var link: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    field(Self.pages * 8, UnsafeMutableRawPointer?.self)
  }

  /// Whether the region is in the depot's list.
  var isListed: Bool {
    get { listed.pointee != 0 }
    nonmutating set { listed.pointee = newValue ? 1 : 0 }
  }

  /// The region behind this one in the depot's list.
  var next: NodeRegion? {
    get { link.pointee.map(NodeRegion.init(start:)) }
    nonmutating set { link.pointee = newValue?.start }
  }

  /// The region that was made before this one.
  var older: NodeRegion? {
    get { madeBefore.pointee.map(NodeRegion.init(start:)) }
    nonmutating set { madeBefore.pointee = newValue?.start }
  }

  // MARK: Nodes

  /// Takes `nodes` back, which are of this region.
  @inline(__always)
  func put(_ nodes: PageNodes) {
    let page = (nodes.page - start) / PageNodes.bytes
    invariant(masks[page] & nodes.mask == 0, "A free node was given back again.")
    masks[page] |= nodes.mask
    summary[page >> 6] |= 1 << UInt64(page & 63)
  }

  /// Takes the free nodes of the first page that has some.
  @inline(__always)
  func take() -> PageNodes? {
    let summary = summary
    for part in 0..<Self.summaries where summary[part] != 0 {
      let page = part << 6 | summary[part].trailingZeroBitCount
      summary[part] &= summary[part] - 1
      let mask = masks[page]
      masks[page] = 0
      backed.pointee |= 1 << UInt64(page)
      return PageNodes(page: start + page * PageNodes.bytes, mask: mask)
    }
    return nil
  }

  /// Takes all nodes of a page that was never used.
  func takeUnused() -> PageNodes? {
    let page = Int(used.pointee)
    if page == Self.pages { return nil }
    used.pointee += 1
    backed.pointee |= 1 << UInt64(page)
    let isFirst = page == Self.headerNodes / NodeCache.chainLength
    let before = isFirst ? Self.headerNodes % NodeCache.chainLength : 0
    let mask = PageNodes.all & PageNodes.all << UInt64(before)
    return PageNodes(page: start + page * PageNodes.bytes, mask: mask)
  }

  // MARK: Memory

  /// Takes the pages that have memory and whose nodes are all free: a bit for each.
  func takeIdlePages() -> UInt64 {
    var idle: UInt64 = 0
    for page in 0..<Self.pages where backed.pointee & 1 << UInt64(page) != 0 {
      guard masks[page] == PageNodes.all else { continue }
      masks[page] = 0
      summary[page >> 6] &= ~(1 << UInt64(page & 63))
      idle |= 1 << UInt64(page)
    }
    backed.pointee &= ~idle
    return idle
  }

  /// Gives the memory of `pages` back to the kernel. Without the lock: the caller has their nodes.
  /// Where the kernel's pages are larger, a part of a run of pages keeps its memory.
  func release(_ pages: UInt64) {
    var left = pages
    while left != 0 {
      let first = left.trailingZeroBitCount
      let count = (~(left >> UInt64(first))).trailingZeroBitCount
      left &= ~((1 << UInt64(count) - 1) << UInt64(first))
      let memory = start + first * PageNodes.bytes
      for index in 0..<count * NodeCache.chainLength { willWrite(memory + index * WorkNode.bytes) }
      gc_release_memory(memory, count * PageNodes.bytes)
    }
  }

  /// The nodes of `pages`, page by page.
  func nodes(of pages: UInt64) -> some Sequence<PageNodes> {
    (0..<Self.pages).lazy.filter { pages & 1 << UInt64($0) != 0 }
      .map { PageNodes(page: start + $0 * PageNodes.bytes, mask: PageNodes.all) }
  }
}
