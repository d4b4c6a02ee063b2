// Data, in the behaviour that both engines share. Not tested: the deallocators `.free` and
// `.unmap`, with which the toolchain's engine crashes on Linux.
import Glibc
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
#endif

@Suite("Data, the same source") struct SameDataTests {
  @Test func `is a copy of the bytes it is made from`() {
    var bytes = numbers(100)
    let raw = bytes.withUnsafeBytes { DispatchData(bytes: $0) }
    bytes[0] = 77
    #expect(Array(raw) == numbers(100))
    #expect(DispatchData.empty.isEmpty && DispatchData.empty.count == 0)
  }

  @Test func `keeps no-copy memory where it is, and frees it on the queue it names`() {
    let key = DispatchSpecificKey<Int>()
    let queue = DispatchQueue(label: "door.deallocator")
    queue.setSpecific(key: key, value: 7)
    let freed = Log<Int>()
    do {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
      memory.copyBytes(from: numbers(8))
      let data = DispatchData(
        bytesNoCopy: UnsafeRawBufferPointer(memory),
        deallocator: .custom(queue) {
          freed.append(DispatchQueue.getSpecific(key: key) ?? 0)
          memory.deallocate()
        })
      #expect(address(of: data) == UInt(bitPattern: memory.baseAddress))
      let part = data.subdata(in: 3..<5)
      #expect(address(of: part) == UInt(bitPattern: memory.baseAddress) + 3)
    }
    #expect(freed.waitForCount(1))
    #expect(freed.all == [7])
  }

  @Test func `lives as long as one byte of it is in use`() {
    let freed = Counter()
    var part = DispatchData.empty
    do {
      let whole = clientData(numbers(1000)) { freed.add() }
      part = whole.subdata(in: 10..<20)
    }
    var longer = part
    longer.append(part)
    part = .empty
    #expect(Array(longer) == numbers(10, from: 10) + numbers(10, from: 10))
    #expect(freed.value == 0)
    longer = .empty
    #expect(freed.waitForValue(1))
  }

  @Test func `appends bytes, typed values and other data`() {
    var data = DispatchData.empty
    numbers(3).withUnsafeBytes { data.append($0) }
    numbers(2).withUnsafeBytes { data.append($0) }
    [UInt16(0x0807), 0x0a09].withUnsafeBufferPointer { data.append($0) }
    let copy = data
    data.append(copy)
    let once: [UInt8] = [0, 1, 2, 0, 1, 7, 8, 9, 10]
    #expect(Array(data) == once + once)
    #expect(Array(copy) == once)
  }

  @Test func `enumerates its regions in order, and stops when it is asked to`() {
    let data = pieces(5, of: 1000)
    var all: [UInt8] = []
    data.enumerateBytes { bytes, offset, _ in
      #expect(offset == all.count)
      all += bytes
    }
    #expect(all == numbers(5000))
    var places: [Int] = []
    data.enumerateBytes { _, offset, stop in
      places.append(offset)
      stop = offset == 2000
    }
    #expect(places == [0, 1000, 2000])
  }

  @Test func `keeps the regions of what is joined, however small`() {
    var data = DispatchData.empty
    var sizes: [Int] = []
    for size in [1, 3, 500, 2, 4000, 1, 1] {
      data.append(numbers(size).withUnsafeBytes { DispatchData(bytes: $0) })
      sizes.append(size)
      #expect(regionSizes(data) == sizes)
    }
    data.append(DispatchData.empty)
    #expect(regionSizes(data) == sizes)
    let twice = data
    data.append(twice)
    #expect(regionSizes(data) == sizes + sizes)
    // Two joined parts of one region stay two regions.
    let one = numbers(10).withUnsafeBytes { DispatchData(bytes: $0) }
    var halves = one.subdata(in: 0..<5)
    halves.append(one.subdata(in: 5..<10))
    #expect(regionSizes(halves) == [5, 5])
    #expect(Array(halves) == numbers(10))
  }

  private func regionSizes(_ data: DispatchData) -> [Int] {
    var sizes: [Int] = []
    data.enumerateBytes { bytes, _, _ in sizes.append(bytes.count) }
    return sizes
  }

  @Test func `finds the region around a location`() {
    let data = pieces(10, of: 600)
    for location in [0, 599, 600, 3001, 5999] {
      let region = data.region(location: location)
      #expect(region.offset == location / 600 * 600)
      #expect(Array(region.data) == numbers(600, from: region.offset))
    }
    #expect(data.region(location: 6000).data.isEmpty)
  }

  @Test func `provides all bytes contiguously`() {
    let data = pieces(4, of: 1000)
    let bytes = data.withUnsafeBytes { (start: UnsafePointer<UInt8>) in
      Array(UnsafeBufferPointer(start: start, count: data.count))
    }
    #expect(bytes == numbers(4000))
  }

  @Test func `is a collection of its bytes`() {
    let data = pieces(20, of: 5)
    #expect(data.startIndex == 0 && data.endIndex == 100)
    #expect(data.indices.map { data[$0] } == numbers(100))
    #expect(Array(data[10..<30]) == numbers(20, from: 10))
    #expect(data.reversed().first == 99 && data.last == 99)
    #expect(data.index(data.startIndex, offsetBy: 7) == 7)
    var iterator: DispatchDataIterator = data.makeIterator()
    #expect(iterator.next() == 0 && iterator.next() == 1)
  }

  @Test func `copies bytes out of itself`() {
    let data = pieces(5, of: 5)
    var bytes = [UInt8](repeating: 200, count: 30)
    bytes.withUnsafeMutableBytes { data.copyBytes(to: $0, count: 12) }
    #expect(bytes == numbers(12) + [UInt8](repeating: 200, count: 18))
    bytes.withUnsafeMutableBytes { data.copyBytes(to: $0, from: 3..<9) }
    #expect(Array(bytes.prefix(6)) == numbers(6, from: 3))
    var words = [UInt32](repeating: 0, count: 3)
    #expect(words.withUnsafeMutableBufferPointer { data.copyBytes(to: $0) } == 12)
    #expect(words.withUnsafeBytes { Array($0) } == numbers(12))
    #expect(words.withUnsafeMutableBufferPointer { data.copyBytes(to: $0, from: 20..<24) } == 4)
  }

  @Test func `agrees with an array, whatever is done to it`() {
    var random = SeededGenerator(for: "data through either door")
    for _ in 0..<stressed(40) {
      var data = DispatchData.empty
      var model: [UInt8] = []
      for step in 0..<60 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          let more = numbers(.random(in: 0...400, using: &random), from: step)
          data.append(Bool.random(using: &random) ? copiedData(more) : clientData(more) {})
          model += more
        case 2 where !model.isEmpty:
          let start = Int.random(in: 0..<model.count, using: &random)
          let end = Int.random(in: start...model.count, using: &random)
          let part = data.subdata(in: start..<end)
          #expect(Array(part) == Array(model[start..<end]))
          if part.count > 300 { (data, model) = (part, Array(model[start..<end])) }
        default:
          guard model.count < 5000 else { break }
          data.append(data)
          model += model
        }
        #expect(data.count == model.count)
      }
      #expect(Array(data) == model)
    }
  }
}

/// Returns bytes whose values show their position.
func numbers(_ count: Int, from first: Int = 0) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: first + $0) }
}

func copiedData(_ bytes: [UInt8]) -> DispatchData {
  bytes.withUnsafeBytes { DispatchData(bytes: $0) }
}

/// Returns data over a buffer of the client's, which calls `whenFreed` when it is freed.
func clientData(_ bytes: [UInt8], _ whenFreed: @escaping @Sendable () -> Void) -> DispatchData {
  let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: max(1, bytes.count), alignment: 1)
  memory.copyBytes(from: bytes)
  return DispatchData(
    bytesNoCopy: UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]),
    deallocator: .custom(nil) {
      memory.deallocate()
      whenFreed()
    })
}

private func pieces(_ count: Int, of bytes: Int) -> DispatchData {
  (0..<count).reduce(into: DispatchData.empty) {
    $0.append(clientData(numbers(bytes, from: $1 * bytes)) {})
  }
}

private func address(of data: DispatchData) -> UInt {
  data.withUnsafeBytes { (start: UnsafePointer<UInt8>) in UInt(bitPattern: start) }
}
