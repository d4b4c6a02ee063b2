// Data as a collection of bytes, and copies of its bytes: contract row D3.
import GrandCentral
import TestSupport
import Testing

@Suite("Data as a collection") struct DataCollectionTests {
  @Test func `has every byte at its index`() {
    for data in [DispatchData(pattern(500)), joined(pieces: 250, of: 2)] {
      #expect(data.startIndex == 0 && data.endIndex == 500 && data.count == 500)
      #expect(data.indices.map { data[$0] } == pattern(500))
      #expect(data.first == 0 && data.last == UInt8(truncatingIfNeeded: 499))
    }
  }

  @Test func `moves indices as integers`() {
    let data = DispatchData(pattern(10))
    #expect(data.index(after: 3) == 4)
    #expect(data.index(before: 3) == 2)
    #expect(data.index(2, offsetBy: 5) == 7)
    #expect(data.index(2, offsetBy: 50, limitedBy: 10) == nil)
    #expect(data.distance(from: 2, to: 9) == 7)
    #expect(data.reversed().first == 9)
  }

  @Test func `iterates from the start each time`() {
    let data = joined(pieces: 100, of: 3)
    #expect(data.map { $0 } == pattern(300))
    #expect(data.map { $0 } == pattern(300))
    var iterator = data.makeIterator()
    var number = 0
    while let byte = iterator.next() {
      #expect(byte == UInt8(truncatingIfNeeded: number))
      number += 1
    }
    #expect(number == 300)
    #expect(iterator.next() == nil && iterator.next() == nil)
  }

  @Test func `iterates over what it was, while the variable changes`() {
    var data = joined(pieces: 40, of: 2)
    var seen: [UInt8] = []
    for byte in data {
      seen.append(byte)
      data.append(DispatchData([byte]))
    }
    #expect(seen == pattern(80))
    #expect(Array(data) == pattern(80) + pattern(80))
  }

  @Test func `outlives its value in an iterator`() {
    let gone = Latch()
    var iterator: DispatchDataIterator? = DispatchData(client: pattern(100)) { gone.open() }
      .makeIterator()
    for number in 0..<50 { #expect(iterator?.next() == UInt8(number)) }
    #expect(!gone.isOpen)
    iterator = nil
    #expect(gone.wait())
  }

  @Test func `slices`() {
    for data in [DispatchData(pattern(100)), joined(pieces: 20, of: 5)] {
      let slice: Slice<DispatchData> = data[10..<30]
      #expect(Array(slice) == pattern(20, from: 10))
      #expect(slice[10] == 10 && slice.startIndex == 10 && slice.endIndex == 30)
      #expect(Array(slice[15..<20]) == pattern(5, from: 15))
      #expect(Array(data.prefix(3)) == pattern(3))
      #expect(Array(data.suffix(3)) == pattern(3, from: 97))
      #expect(Array(data.dropFirst(90)) == pattern(10, from: 90))
      #expect(data[5..<5].isEmpty)
    }
  }

  @Test func `offers contiguous storage only where it exists`() {
    let flat = DispatchData(pattern(10))
    #expect(flat.withContiguousStorageIfAvailable { Array($0) } == pattern(10))
    #expect(DispatchData.empty.withContiguousStorageIfAvailable { $0.count } == 0)
    #expect(joined(pieces: 2, of: 10).withContiguousStorageIfAvailable { $0.count } == nil)
  }

  @Test func `works in arrays, sets and comparisons`() {
    let data = joined(pieces: 30, of: 7)
    #expect(Array(data) == pattern(210))
    #expect(ContiguousArray(data).count == 210)
    #expect([1] + data == [1] + pattern(210))
    #expect(data.elementsEqual(pattern(210)))
    #expect(data.contains(209) && data.firstIndex(of: 100) == 100)
    #expect(data.reduce(0) { $0 + Int($1) } == pattern(210).reduce(0) { $0 + Int($1) })
  }

  @Test func `fills part of a buffer and returns the rest`() {
    let data = joined(pieces: 30, of: 7)
    var buffer = [UInt8](repeating: 0, count: 100)
    var (rest, count) = buffer.withUnsafeMutableBufferPointer {
      data._copyContents(initializing: $0)
    }
    #expect(count == 100 && buffer == pattern(100))
    #expect(rest.next() == 100)
    #expect(Array(IteratorSequence(rest)) == pattern(109, from: 101))
  }

  @Test func `copies bytes from the start`() {
    for data in [DispatchData(pattern(25)), joined(pieces: 5, of: 5)] {
      for count in [0, 1, 12, 25, 100] {
        let expected = pattern(min(count, 25)) + Array(repeating: 200, count: 128 - min(count, 25))
        var bytes = [UInt8](repeating: 200, count: 128)
        bytes.withUnsafeMutableBytes { data.copyBytes(to: $0, count: count) }
        #expect(bytes == expected)
        bytes = [UInt8](repeating: 200, count: 128)
        bytes.withUnsafeMutableBufferPointer { data.copyBytes(to: $0.baseAddress!, count: count) }
        #expect(bytes == expected)
      }
    }
  }

  @Test func `copies a range, clipped to its bytes`() {
    for data in [DispatchData(pattern(25)), joined(pieces: 5, of: 5)] {
      for range in [0..<25, 3..<9, 8..<100, 25..<30, 7..<7] {
        let there = range.clamped(to: 0..<25)
        var expected = [UInt8](repeating: 200, count: 128)
        expected.replaceSubrange(
          0..<there.count, with: pattern(there.count, from: range.lowerBound))
        var bytes = [UInt8](repeating: 200, count: 128)
        bytes.withUnsafeMutableBytes { data.copyBytes(to: $0, from: range) }
        #expect(bytes == expected)
        bytes = [UInt8](repeating: 200, count: 128)
        bytes.withUnsafeMutableBufferPointer { data.copyBytes(to: $0.baseAddress!, from: range) }
        #expect(bytes == expected)
      }
    }
  }

  @Test func `copies what fits into a buffer of any type`() {
    let data = joined(pieces: 5, of: 5)
    var words = [UInt32](repeating: 9, count: 8)
    #expect(words.withUnsafeMutableBufferPointer { data.copyBytes(to: $0) } == 25)
    #expect(words.withUnsafeBytes { Array($0.prefix(25)) } == pattern(25))
    var one: [UInt64] = [0]
    #expect(one.withUnsafeMutableBufferPointer { data.copyBytes(to: $0, from: 10..<25) } == 8)
    #expect(one.withUnsafeBytes { Array($0) } == pattern(8, from: 10))
    #expect(one.withUnsafeMutableBufferPointer { data.copyBytes(to: $0, from: 24..<25) } == 1)
    #expect(one.withUnsafeMutableBufferPointer { DispatchData.empty.copyBytes(to: $0) } == 0)
  }
}
