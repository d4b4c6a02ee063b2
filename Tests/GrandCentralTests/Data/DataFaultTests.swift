import GrandCentral
import TestSupport
import Testing

@Suite("Misuse of data") struct DataFaultTests {
  @Test func `stops at an index out of bounds`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchData([1, 2, 3])[3]
    }
    expectReport(result, names: ["DispatchData[3]"], says: ["3 bytes", "startIndex..<endIndex"])
    let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = joined(pieces: 3, of: 1)[-1]
    }
    expectReport(negative, names: ["DispatchData[-1]"], says: ["3 bytes"])
  }

  @Test func `stops at a slice out of bounds`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchData([1, 2, 3])[2..<5]
    }
    expectReport(result, names: ["DispatchData[2..<5]"], says: ["3 bytes", "subdata"])
  }

  @Test func `stops before it writes over a buffer's end`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var small: [UInt8] = [0, 0]
      small.withUnsafeMutableBytes { DispatchData([1, 2, 3]).copyBytes(to: $0, count: 3) }
    }
    expectReport(result, names: ["copyBytes"], says: ["3 bytes", "buffer of 2", "smaller count"])
  }

  @Test func `stops at a range to copy out of bounds`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var bytes: [UInt8] = [0, 0]
      _ = bytes.withUnsafeMutableBufferPointer {
        DispatchData([1, 2, 3]).copyBytes(to: $0, from: 2..<9)
      }
    }
    expectReport(result, names: ["copyBytes", "2..<9"], says: ["3 bytes", "within"])
  }

  @Test func `stops at negative counts`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var bytes: [UInt8] = [0, 0]
      bytes.withUnsafeMutableBytes { DispatchData([1]).copyBytes(to: $0, count: -1) }
    }
    expectReport(result, names: ["copyBytes"], says: ["-1", "0 or more"])
    let append = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var data = DispatchData([1])
      [UInt8](1...2).withUnsafeBufferPointer { data.append($0.baseAddress!, count: -2) }
    }
    expectReport(append, names: ["append"], says: ["-2", "0 or more"])
  }

  @Test func `stops at more bytes than can be counted, and names both sizes`() async {
    let doubled = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var data = DispatchData([UInt8](repeating: 1, count: 1 << 20))
      while true { data.append(data) }
    }
    let half = "\(1 << 62)"
    expectReport(
      doubled, names: ["DispatchData of \(half) bytes", "\(half) more"],
      says: ["at most \(Int.max)", "write"])
    let byOne = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var data = DispatchData([UInt8](repeating: 1, count: 1 << 20))
      while data.count < 1 << 62 { data.append(data) }
      data.append(data.subdata(in: 0..<data.count - 1))
      #expect(data.count == Int.max)
      pattern(1).withUnsafeBytes { data.append($0) }
    }
    expectReport(
      byOne, names: ["DispatchData of \(Int.max) bytes", "1 more"], says: ["at most \(Int.max)"])
  }

  @Test func `stops at memory that cannot be unmapped`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 16)
      let odd = UnsafeRawBufferPointer(rebasing: memory[1...])
      _ = DispatchData(bytesNoCopy: odd, deallocator: .unmap)
    }
    expectReport(result, names: [".unmap"], says: ["99 bytes", "munmap(2)", "mmap(2)"])
  }
}
