// The tree under data: its invariant, its height, and the nodes that values share.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The tree under data") struct DataTreeTests {
  @Test func `keeps its shape when it grows at the back`() {
    var data = DispatchData.empty
    for number in 1...5_000 {
      data.join(piece(1))
      if number < 200 || number % 100 == 0 { checkShape(data, pieces: number) }
    }
  }

  @Test func `keeps its shape when it grows at the front`() {
    var data = DispatchData.empty
    for number in 1...5_000 {
      var longer = piece(1)
      longer.join(data)
      data = longer
      if number < 200 || number % 100 == 0 { checkShape(data, pieces: number) }
    }
  }

  @Test func `leaves nodes three quarters full behind when it grows`() throws {
    var data = DispatchData.empty
    for _ in 0..<10_000 { data.join(piece(1)) }
    let root = try #require(data.root)
    #expect(leaves(root) <= 10_000 / 24)
  }

  @Test func `keeps its shape when it is joined and cut at random`() {
    var random = SeededGenerator(for: "the shape of data")
    var data = piece(10)
    for _ in 0..<stressed(2_000) {
      if data.count < 10_000 && Int.random(in: 0..<3, using: &random) > 0 {
        var other = piece(Int.random(in: 1...20, using: &random))
        for _ in 0..<Int.random(in: 0...200, using: &random) { other.join(piece(3)) }
        if Bool.random(using: &random) { swap(&data, &other) }
        data.join(other)
      } else {
        let from = Int.random(in: 0..<data.count, using: &random)
        data = data.subdata(in: from..<Int.random(in: from + 1...data.count, using: &random))
      }
      checkShape(data)
    }
  }

  @Test func `of a million pieces is six nodes high at most`() throws {
    let one = piece(1)
    var data = DispatchData.empty
    for _ in 0..<1_000_000 { data.join(one) }
    #expect(try #require(data.root).height < 6)
    #expect(data.subdata(in: 499_999..<500_000).root == nil)
  }

  @Test func `is changed in place while it has one user`() throws {
    var data = piece(1)
    // After 20 pieces the root is a leaf with free slots.
    for _ in 0..<19 { data.join(piece(1)) }
    let before = data.root?.header
    data.join(piece(1))
    #expect(data.root?.header == before)
    let copy = data
    data.join(piece(1))
    #expect(data.root?.header != before)
    #expect(copy.root?.header == before)
    #expect(copy.count == 21 && data.count == 22)
  }

  @Test func `shares the nodes that a cut leaves whole`() throws {
    var data = DispatchData.empty
    for _ in 0..<10_000 { data.join(piece(2)) }
    let part = data.subdata(in: 1..<19_999)
    let shared = nodes(try #require(part.root)).intersection(nodes(try #require(data.root)))
    #expect(shared.count > 300)
  }

  @Test func `stores small appends in shared buffers`() {
    var data = DispatchData.empty
    for number in 0..<100_000 { withUnsafeBytes(of: number) { data.append($0) } }
    var pieces = 0
    _ = data.forEachRegion(in: 0..<data.count) { _, _, _ in pieces += 1 }
    #expect(pieces < 30)
  }

  @Test func `has a leaf's piece for each small value that is joined`() {
    var data = DispatchData.empty
    let values = 100_000
    for number in 0..<values {
      data.append(withUnsafeBytes(of: UInt8(number & 255)) { DispatchData(bytes: $0) })
    }
    checkShape(data, pieces: values)
    #expect(data[values - 1] == UInt8((values - 1) & 255))
    // Copied bytes still share the last piece.
    for number in 0..<100 { withUnsafeBytes(of: UInt8(number)) { data.append($0) } }
    checkShape(data, pieces: values)
    #expect(data.count == values + 100)
  }

  @Test func `uses proportionate memory while copies prevent growth in place`() {
    var data = DispatchData.empty
    var copies: [DispatchData] = []
    for number in 0..<2_000 {
      withUnsafeBytes(of: number) { data.append($0) }
      copies.append(data)
    }
    checkShape(data)
    #expect(room(of: data) <= 4 * data.count)
  }

  @Test func `gives owned bytes an alignment for any type`() {
    for count in [1, 7, 100, 5_000] {
      #expect(Int(bitPattern: OwnBytes.make(room: count).start) % 16 == 0)
    }
  }

  // MARK: Looking at trees

  /// A piece over memory that is never read.
  private func piece(_ count: Int) -> DispatchData {
    DispatchData(owner: Self.owner, base: UnsafePointer(bitPattern: 16)!, count: count)
  }

  private static let owner = DispatchGroup()

  private func checkShape(_ data: DispatchData, pieces: Int? = nil) {
    guard let root = data.root else { return }
    var found = 0
    check(root, isRoot: true, &found)
    #expect(root.bytes == data.count)
    if let pieces { #expect(found == pieces) }
  }

  private func check(_ node: NodeReference, isRoot: Bool, _ pieces: inout Int) {
    let count = node.count
    let least = isRoot ? 2 : DataNode.minSlots
    if count < least || count > DataNode.maxSlots || count > node.room {
      Issue.record("\(count) slots of \(node.room) in a node of height \(node.height)")
    }
    for index in 0..<count {
      if node.size(of: index) <= 0 { Issue.record("an empty slot") }
      if node.height == 0 {
        pieces += 1
        continue
      }
      let child = node.child(index)
      if child.height != node.height - 1 || child.bytes != node.size(of: index) {
        Issue.record("a child of height \(child.height) under \(node.height), or of wrong size")
      }
      check(child, isRoot: false, &pieces)
    }
  }

  private func leaves(_ node: NodeReference) -> Int {
    node.height == 0 ? 1 : (0..<node.count).reduce(0) { $0 + leaves(node.child($1)) }
  }

  private func nodes(_ node: NodeReference) -> Set<UnsafeMutablePointer<DataNodeHeader>> {
    if node.height == 0 { return [node.header] }
    return (0..<node.count).reduce(into: [node.header]) { $0.formUnion(nodes(node.child($1))) }
  }

  /// The capacity of all buffers that the engine owns.
  private func room(of data: DispatchData) -> Int {
    guard let root = data.root else { return data.count }
    return room(of: root)
  }

  private func room(of node: NodeReference) -> Int {
    (0..<node.count).reduce(0) { sum, index in
      if node.height > 0 { return sum + room(of: node.child(index)) }
      guard let own = node.slots[index].object as? OwnBytes else { return sum }
      return sum + (own.end - own.start)
    }
  }
}
