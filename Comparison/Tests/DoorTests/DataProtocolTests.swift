// Data as one of Foundation's protocols. Here a module of its own declares the conformance.
import Foundation
import TestSupport
import Testing

#if DOOR_DISPATCH
  import Dispatch
#else
  import GrandCentral
  import GrandCentralFoundation
#endif

@Suite("Data as Foundation's DataProtocol, the same source") struct DataProtocolTests {
  private let data = [3, 5, 4].reduce(into: DispatchData.empty) {
    $0.append(copiedData(numbers($1, from: $0.count)))
  }

  private func bytes<Bytes: DataProtocol>(of bytes: Bytes) -> [UInt8] {
    bytes.regions.flatMap { region in region.withUnsafeBytes { Array($0) } }
  }

  @Test func `has regions, whose indices are those of the whole`() {
    let regions: [DispatchData.Region] = data.regions
    #expect(regions.map(\.startIndex) == [0, 3, 8])
    #expect(regions.map(\.endIndex) == [3, 8, 12])
    #expect(regions.map(Array.init) == [numbers(3), numbers(5, from: 3), numbers(4, from: 8)])
    #expect(regions[1][4] == 4 && regions[1].regions.count == 1)
    #expect(DispatchData.empty.regions.isEmpty)
  }

  @Test func `has regions that keep the bytes, and copy none`() {
    let freed = Counter()
    var whole = clientData(numbers(100)) { freed.add() }
    let addresses = whole.withUnsafeBytes { (start: UnsafePointer<UInt8>) in
      whole.regions.map { $0.withUnsafeBytes { $0.baseAddress == UnsafeRawPointer(start) } }
    }
    #expect(addresses == [true])
    var kept = whole.regions
    whole = .empty
    #expect(freed.value == 0 && kept[0][99] == 99)
    kept = []
    #expect(freed.waitForValue(1))
  }

  @Test func `passes where Foundation takes any data`() {
    #expect(bytes(of: data) == numbers(12))
    #expect(bytes(of: data[2..<9]) == numbers(7, from: 2))
    #expect(Data(data) == Data(numbers(12)))
    #expect(data.firstRange(of: Data([4, 5])) == 4..<6)
    #expect(data.lastRange(of: [9]) == 9..<10)
    var text = Data("text".utf8)
    text.append(contentsOf: data)
    #expect(text.count == 16)
    var copy = [UInt8](repeating: 0, count: 5)
    #expect(copy.withUnsafeMutableBytes { data.copyBytes(to: $0, from: 2..<7) } == 5)
    #expect(copy == numbers(5, from: 2))
  }
}
