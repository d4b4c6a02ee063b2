// Random operations on data, compared with the same operations on arrays.
// Shows contract row D2.
import GrandCentral
import TestSupport
import Testing

@Suite("Data, like an array") struct DataPropertyTests {
  @Test(arguments: 0..<4)
  func `answers every question as an array does`(_ part: Int) {
    var random = SeededGenerator(for: "data against arrays, \(part)")
    let freed = Counter()
    var made = 0
    do {
      var pool: [(data: DispatchData, model: [UInt8])] = [(.empty, [])]
      for _ in 0..<stressed(200) {
        let index = Int.random(in: 0..<pool.count, using: &random)
        change(&pool, index, &made, freed, &random)
        // Up to here a variable of the pool holds the only reference to its value, so both ways of
        // changing a tree are used.
        check(pool[index].data, pool[index].model, &random)
        if pool.count > 12 { pool.remove(at: Int.random(in: 0..<pool.count, using: &random)) }
      }
    }
    #expect(freed.waitForValue(made))
    settle()
    #expect(freed.value == made)
  }

  private func change(
    _ pool: inout [(data: DispatchData, model: [UInt8])], _ index: Int, _ made: inout Int,
    _ freed: Counter, _ random: inout SeededGenerator
  ) {
    let other = Int.random(in: 0..<pool.count, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: pool.append(pool[index])
    case 1, 2:
      let range = range(in: pool[index].model.count, &random)
      pool.append((pool[index].data.subdata(in: range), Array(pool[index].model[range])))
    case 3,
      4 where pool[index].model.count + pool[other].model.count < 200_000:
      let added = pool[other]
      pool[index].data.append(added.data)
      pool[index].model += added.model
    case 5:
      let range = range(in: pool[index].model.count, &random)
      pool[index].data = pool[index].data.subdata(in: range)
      pool[index].model = Array(pool[index].model[range])
    case 6:
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        let bytes = bytes(upTo: 40, &random)
        made += 1
        pool[index].data.append(DispatchData(client: bytes) { freed.add() })
        pool[index].model += bytes
      }
    case 7: _ = pool[index].data.withUnsafeBytes { (_: UnsafePointer<UInt8>) in 0 }
    default:
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        let bytes = bytes(upTo: Bool.random(using: &random) ? 3 : 3_000, &random)
        bytes.withUnsafeBytes { pool[index].data.append($0) }
        pool[index].model += bytes
        if pool[index].model.count > 400_000 { break }
      }
    }
  }

  private func check(
    _ data: DispatchData, _ model: [UInt8], _ random: inout SeededGenerator
  ) {
    #expect(data.count == model.count)
    // The comparison has a Bool of its own: a failed expectation would print all bytes.
    let isSame = Array(data) == model
    #expect(isSame)
    for _ in 0..<5 where !model.isEmpty {
      let index = Int.random(in: 0..<model.count, using: &random)
      #expect(data[index] == model[index])
      let (region, offset) = data.region(location: index)
      #expect(offset <= index && index < offset + region.count)
      let isRegion = Array(region) == Array(model[offset..<offset + region.count])
      #expect(isRegion)
      let range = range(in: model.count, &random)
      let isPart = Array(data.subdata(in: range)) == Array(model[range])
      #expect(isPart)
      var copied = [UInt8](repeating: 0, count: range.count)
      let count = copied.withUnsafeMutableBufferPointer { data.copyBytes(to: $0, from: range) }
      let isCopy = count == range.count && copied == Array(model[range])
      #expect(isCopy)
    }
    var joined: [UInt8] = []
    data.enumerateBytes { bytes, offset, _ in
      if offset == joined.count && !bytes.isEmpty { joined += bytes }
    }
    let isJoined = joined == model
    #expect(isJoined)
    if Bool.random(using: &random) {
      let isEqual = data.elementsEqual(model)
      #expect(isEqual)
    }
  }

  private func range(in count: Int, _ random: inout SeededGenerator) -> Range<Int> {
    let ends = (0..<2).map { _ in Int.random(in: 0...count, using: &random) }.sorted()
    return ends[0]..<ends[1]
  }

  private func bytes(upTo most: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let first = UInt8.random(in: 0...255, using: &random)
    return (0..<Int.random(in: 0...most, using: &random)).map { first &+ UInt8($0 & 0x7f) }
  }
}
