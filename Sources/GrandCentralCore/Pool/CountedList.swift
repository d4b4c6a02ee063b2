// Room: Pool/CountedList. A list of nodes in one word, to which any thread adds.

/// A list of nodes from the newest to the oldest, and their number.
///   63…6 the newest node's address, a multiple of 64 │ 5…0 the number of nodes; 63: or more
struct CountedList: StateWord {
  let rawValue: UInt64
  init(rawValue: UInt64) { self.rawValue = rawValue }

  static var empty: CountedList { CountedList(rawValue: 0) }
  private static var mask: UInt64 { UInt64(WorkNode.bytes) - 1 }

  var newest: WorkNode? {
    UnsafeMutableRawPointer(bitPattern: UInt(rawValue & ~Self.mask)).map(WorkNode.init)
  }
  var count: Int { Int(rawValue & Self.mask) }
  /// Whether `count` is the number of nodes, not the lowest that it may be.
  var isExact: Bool { count < Self.mask }
  var isValid: Bool { (newest == nil) == (count == 0) }

  /// The list with `node`, which leads to the newest node so far.
  func adding(_ node: WorkNode) -> CountedList {
    let longer = min((rawValue & Self.mask) + 1, Self.mask)
    return CountedList(rawValue: UInt64(UInt(bitPattern: node.raw)) | longer)
  }

  /// This list with the nodes of `older` after its oldest one. Walks through this list.
  func joined(toOlder older: CountedList) -> CountedList {
    guard let newest else { return older }
    var oldest = newest
    while let next = oldest.next { oldest = next }
    oldest.next = older.newest
    let longer = min(UInt64(count + older.count), Self.mask)
    return CountedList(rawValue: UInt64(UInt(bitPattern: newest.raw)) | longer)
  }
}
