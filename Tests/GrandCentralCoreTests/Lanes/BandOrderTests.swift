// The private list of a workloop.
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The list of a workloop") struct BandOrderTests {
  /// Inserts, takes and puts back nodes at random, beside an array that is searched for each place.
  @Test func `is ordered by band, then by insertion, whatever has left`() {
    var random = SeededGenerator(for: "band order")
    var tails = BandTails()
    var list: WorkNode?
    var expected: [(band: Band, number: Int)] = []
    for number in 1...20_000 {
      let draw = random.next()
      if draw % 2 == 0, let band = Band(rawValue: UInt8(draw >> 8 % 5) + 1) {
        let node = WorkNode(.allocate(byteCount: WorkNode.bytes, alignment: WorkNode.bytes))
        node.traits = WorkTraits(qos: PackedQoS(band: band))
        node.context = UnsafeMutableRawPointer(bitPattern: number)
        tails.insert(node, band, into: &list)
        let place = expected.firstIndex { $0.band < band } ?? expected.count
        expected.insert((band, number), at: place)
      } else if let node = list {
        list = node.next
        if draw >> 8 % 4 == 0 {
          node.next = list
          list = node
          continue
        }
        let first = expected.removeFirst()
        #expect(UInt(bitPattern: node.context) == UInt(first.number))
        #expect(node.traits.bandBehind == first.band.rawValue)
        node.raw.deallocate()
      }
    }
    while let node = list {
      list = node.next
      #expect(UInt(bitPattern: node.context) == UInt(expected.removeFirst().number))
      node.raw.deallocate()
    }
    #expect(expected.isEmpty)
  }

  @Test func `moves an item up when urgent code waits for it`() {
    let workloop = DispatchWorkloop(label: "workloop.awaited", attributes: .initiallyInactive)
    let order = Log<Int>()
    let isHeld = Latch()
    let gate = Latch()
    let waited = Latch()
    workloop.async(qos: .userInitiated) {
      isHeld.open()
      #expect(gate.wait())
    }
    workloop.async(qos: .utility) { order.append(1) }
    let item = DispatchWorkItem(qos: .background, flags: .enforceQoS) { order.append(2) }
    workloop.async(execute: item)
    // The drainer takes all three into its private list.
    workloop.activate()
    #expect(isHeld.wait())
    DispatchQueue.global(qos: .userInteractive).async {
      item.wait()
      waited.open()
    }
    // The waiting thread has reported that the item asks for more.
    #expect(eventually { workloop.changeEpoch.load(ordering: .acquiring) & 1 == 1 })
    gate.open()
    #expect(waited.wait())
    #expect(order.waitForCount(2))
    #expect(order.all == [2, 1])
  }
}
