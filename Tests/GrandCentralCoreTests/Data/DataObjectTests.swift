// The objects that hold data for C programs, and the trees that are made of them.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The object of data") struct DataObjectTests {
  @Test func `is that of the piece in every tree that it is joined to`() {
    let (one, two) = (object([1, 2]), object([3]))
    let both = DataObject.joining(one, two)
    let more = DataObject.joining(both, one)
    #expect(
      regions(more) == [Region(one, 0, [1, 2]), Region(two, 2, [3]), Region(one, 3, [1, 2])])
    let (region, offset) = more.heldRegion(at: 4)
    #expect(region.toOpaque() == address(one) && offset == 3)
    drop(region)
  }

  @Test func `is new for a piece that was cut`() throws {
    let one = object([1, 2, 3])
    let part = DataObject.joining(one, object([4])).held(1..<4)
    defer { drop(part) }
    let cut = try #require(part.takeUnretainedValue() as? DataObject)
    let found = regions(cut)
    #expect(found.map(\.bytes) == [[2, 3], [4]])
    #expect(found[0].object != address(one))
  }

  @Test func `answers as an array does when it is joined and cut at random`() throws {
    var random = SeededGenerator(for: "objects of data")
    var (data, bytes) = (object([0]), [UInt8(0)])
    for _ in 0..<stressed(2_000) {
      if bytes.count < 2 || bytes.count < 500 && Int.random(in: 0..<3, using: &random) > 0 {
        let isDoubled = Int.random(in: 0..<8, using: &random) == 0
        let added = isDoubled ? bytes : [UInt8.random(in: 0...255, using: &random), 1]
        data = DataObject.joining(data, isDoubled ? data : object(added))
        bytes += added
      } else {
        let from = Int.random(in: 0..<bytes.count - 1, using: &random)
        let range = from..<Int.random(in: from + 1...bytes.count, using: &random)
        let part = data.held(range)
        data = try #require(part.takeUnretainedValue() as? DataObject)
        drop(part)
        bytes = Array(bytes[range])
      }
      let found = regions(data)
      #expect(found.flatMap(\.bytes) == bytes && Array(data.data) == bytes)
      // Otherwise chains of objects would grow.
      #expect(!(data.data.owner is DataObject))
    }
  }

  private func object(_ bytes: [UInt8]) -> DataObject {
    DataObject(bytes.withUnsafeBytes { DispatchData(bytes: $0) })
  }

  /// Drops a program's reference.
  private func drop(_ object: Unmanaged<DispatchObject>) {
    object._withUnsafeGuaranteedRef { object in
      object.dropClientReference(last: { #expect(object.dropLast(of: $0)) })
    }
  }

  private func regions(_ object: DataObject) -> [Region] {
    var found: [Region] = []
    let isWhole = withUnsafeMutablePointer(to: &found) { found in
      object.forEachRegion(found) { context, region, offset, bytes, count in
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
        context?.assumingMemoryBound(to: [Region].self).pointee.append(
          Region(object: region, offset: offset, bytes: Array(buffer)))
        return true
      }
    }
    #expect(isWhole)
    return found
  }
}

private func address(_ object: DataObject) -> UnsafeMutableRawPointer {
  Unmanaged.passUnretained(object).toOpaque()
}

private struct Region: Equatable {
  let object: UnsafeMutableRawPointer
  let offset: Int
  let bytes: [UInt8]

  init(object: UnsafeMutableRawPointer, offset: Int, bytes: [UInt8]) {
    (self.object, self.offset, self.bytes) = (object, offset, bytes)
  }

  init(_ object: DataObject, _ offset: Int, _ bytes: [UInt8]) {
    self.init(object: address(object), offset: offset, bytes: bytes)
  }
}
