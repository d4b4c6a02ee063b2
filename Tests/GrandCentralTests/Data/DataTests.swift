// How data is made and how its bytes are read: contract rows D1 and D3.
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("Data") struct DataTests {
  @Test func `is a copy of the bytes it is made from`() {
    var bytes = pattern(100)
    let raw = bytes.withUnsafeBytes { DispatchData(bytes: $0) }
    let typed = bytes.withUnsafeBufferPointer { DispatchData(bytes: $0) }
    bytes[0] = 77
    #expect(Array(raw) == pattern(100))
    #expect(Array(typed) == pattern(100))
  }

  @Test func `without bytes is empty`() {
    #expect(DispatchData.empty.count == 0)
    #expect(DispatchData.empty.isEmpty)
    #expect(DispatchData([]).isEmpty)
    #expect(DispatchData(bytes: UnsafeRawBufferPointer(start: nil, count: 0)).isEmpty)
    #expect(Array(DispatchData.empty) == [])
    #expect(DispatchData.empty.regions.isEmpty)
    #expect(DispatchData.empty.withUnsafeBytes { (_: UnsafePointer<UInt64>) in 7 } == 7)
  }

  @Test func `keeps no-copy memory where it is`() {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
    memory.initialize(repeating: 5, count: 8)
    let data = DispatchData(
      bytesNoCopy: UnsafeBufferPointer(start: memory, count: 8),
      deallocator: .custom(nil, { memory.deallocate() }))
    let address = data.withUnsafeBytes { (start: UnsafePointer<UInt8>) in Int(bitPattern: start) }
    #expect(address == Int(bitPattern: memory))
    #expect(Array(data) == Array(repeating: 5, count: 8))
  }

  @Test func `appends bytes, values of any type, and other data`() {
    var data = DispatchData([1, 2])
    [3, 4].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in data.append(bytes) }
    [UInt8](5...9).withUnsafeBufferPointer { data.append($0.baseAddress!, count: 2) }
    [UInt16(0x0807), 0x0a09].withUnsafeBufferPointer { data.append($0) }
    data.append(DispatchData([11]))
    data.append(.empty)
    let words = [3, 4].withUnsafeBytes { Array($0) }
    #expect(Array(data) == [1, 2] + words + [5, 6, 7, 8, 9, 10, 11])
  }

  @Test func `is a value: what is appended to a copy is the copy's alone`() {
    for count in [10, 1_000, 10_000] {
      let original = joined(pieces: 3, of: count)
      let bytes = Array(original)
      var first = original
      var second = original
      first.append(DispatchData([1]))
      second.append(DispatchData([2, 3]))
      #expect(Array(original) == bytes)
      #expect(Array(first) == bytes + [1])
      #expect(Array(second) == bytes + [2, 3])
    }
  }

  @Test func `grows by single bytes to any size`() {
    var data = DispatchData.empty
    var copies: [DispatchData] = []
    let bytes = pattern(50_000)
    for byte in bytes {
      withUnsafeBytes(of: byte) { data.append($0) }
      if data.count % 5_000 == 0 { copies.append(data) }
    }
    let isSame = Array(data) == bytes
    #expect(isSame)
    let areParts = copies.allSatisfy { Array($0) == Array(bytes.prefix($0.count)) }
    #expect(areParts)
  }

  @Test func `appends itself`() {
    var data = joined(pieces: 2, of: 700)
    let bytes = Array(data)
    for _ in 0..<3 { data.append(data) }
    let expected = Array(repeatElement(bytes, count: 8).joined())
    #expect(data.count == expected.count)
    #expect(Array(data) == expected)
  }

  @Test func `enumerates its regions in order, with their offsets`() {
    let data = joined(pieces: 5, of: 1_000)
    #expect(data.regions.map(\.offset) == [0, 1_000, 2_000, 3_000, 4_000])
    #expect(data.regions.allSatisfy { $0.count == 1_000 })
    var all: [UInt8] = []
    data.enumerateBytes { bytes, offset, stop in
      #expect(offset == all.count)
      #expect(!stop)
      all += bytes
    }
    #expect(all == pattern(5_000))
  }

  @Test func `stops enumerating when it is asked to`() {
    var seen: [Int] = []
    joined(pieces: 50, of: 1_000).enumerateBytes { _, offset, stop in
      seen.append(offset)
      stop = offset == 3_000
    }
    #expect(seen == [0, 1_000, 2_000, 3_000])
  }

  @Test func `finds the region around a location`() {
    let data = joined(pieces: 100, of: 600)
    for location in [0, 1, 599, 600, 601, 30_000, 59_999] {
      let region = data.region(location: location)
      #expect(region.offset == location / 600 * 600)
      #expect(Array(region.data) == pattern(600, from: region.offset))
    }
    for location in [60_000, 60_001, Int.max, -1] {
      let region = data.region(location: location)
      #expect(region.data.isEmpty)
      #expect(region.offset == 60_000)
    }
    #expect(DispatchData.empty.region(location: 0).offset == 0)
    #expect(DispatchData([9]).region(location: 0).data.count == 1)
  }

  @Test func `shares its memory with subdata`() {
    let data = joined(pieces: 2, of: 1_000)
    let part = data.subdata(in: 400..<1_600)
    #expect(Array(part) == pattern(1_200, from: 400))
    #expect(part.regions.map(\.count) == [600, 600])
    #expect(address(of: part, at: 0) == address(of: data, at: 400))
    #expect(address(of: part, at: 600) == address(of: data, at: 1_000))
  }

  @Test func `clips subdata to its bytes`() {
    for data in [DispatchData(pattern(25)), joined(pieces: 5, of: 5)] {
      #expect(Array(data.subdata(in: 3..<100)) == pattern(22, from: 3))
      #expect(Array(data.subdata(in: 0..<25)) == pattern(25))
      #expect(data.subdata(in: 30..<40).isEmpty)
      #expect(data.subdata(in: 25..<26).isEmpty)
      #expect(data.subdata(in: 5..<5).isEmpty)
      #expect(data.subdata(in: -3..<2).isEmpty)
    }
  }

  @Test func `provides all bytes contiguously, with a copy only if needed`() {
    let flat = DispatchData(pattern(100))
    #expect(mapped(flat) == address(of: flat, at: 0))
    let data = joined(pieces: 40, of: 1_000)
    let sum = data.withUnsafeBytes { (bytes: UnsafePointer<UInt8>) in
      UnsafeBufferPointer(start: bytes, count: data.count).reduce(0) { $0 + Int($1) }
    }
    #expect(sum == pattern(40_000).reduce(0) { $0 + Int($1) })
    #expect(mapped(data) == mapped(data), "the copy is remembered")
    #expect(data.regions.count == 40)
    var longer = data
    longer.append(DispatchData([1, 2, 3]))
    longer.withUnsafeBytes { (bytes: UnsafePointer<UInt8>) in #expect(bytes[40_002] == 3) }
  }

  @Test func `drops the contiguous copy when it grows in place`() {
    var data = joined(pieces: 2, of: 5_000)
    for number in 1...100 {
      _ = data.withUnsafeBytes { (bytes: UnsafePointer<UInt8>) in bytes[0] }
      withUnsafeBytes(of: UInt8(number)) { data.append($0) }
      let last = data.withUnsafeBytes { (bytes: UnsafePointer<UInt8>) in bytes[9_999 + number] }
      #expect(last == UInt8(number))
    }
  }

  @Test func `rethrows what the reader of its bytes throws`() {
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try DispatchData([1]).withUnsafeBytes { (_: UnsafePointer<UInt8>) in throw Failure() }
    }
  }

  @Test func `is mapped by many threads at once`() {
    let data = joined(pieces: 20, of: 1_000)
    let copies = Log<UInt>()
    #expect(
      onThreads(4) { _ in
        for _ in 0..<50 {
          let copy = data
          copies.append(mapped(copy))
          if copy.reduce(0, { $0 + Int($1) }) == 0 { copies.append(0) }
        }
      })
    #expect(Set(copies.all).count == 1)
  }
}

/// `pieces` regions of `count` bytes that cannot be merged, filled with the numbers from 0.
func joined(pieces: Int, of count: Int) -> DispatchData {
  var data = DispatchData.empty
  for piece in 0..<pieces {
    data.append(DispatchData(client: pattern(count, from: piece * count)))
  }
  return data
}

func address(of data: DispatchData, at location: Int) -> UInt {
  let (region, offset) = data.region(location: location)
  return mapped(region) + UInt(location - offset)
}

func mapped(_ data: DispatchData) -> UInt {
  data.withUnsafeBytes { (start: UnsafePointer<UInt8>) in UInt(bitPattern: start) }
}
