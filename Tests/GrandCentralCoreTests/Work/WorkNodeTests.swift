import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A work node") struct WorkNodeTests {
  private func withNode(_ body: (WorkNode, ThreadContext) -> Void) {
    let thread = currentThread()
    body(NodeCache.take(thread), thread)
  }

  @Test func `keeps its fields apart`() {
    withNode { node, thread in
      let other = NodeCache.take(thread)
      let pointers = (1...3).map { UnsafeMutableRawPointer(bitPattern: $0 * 4096) }
      node.next = other
      node.entry = WorkNode.closureEntry
      node.putClosure {}
      node.context = pointers[0]
      node.companion = pointers[1]
      node.carrier = pointers[2]
      node.traits = WorkTraits(rawValue: .max)
      #expect(node.next == other)
      #expect(node.context == pointers[0])
      #expect(node.companion == pointers[1])
      #expect(node.carrier == pointers[2])
      #expect(node.traits.rawValue == .max)
      _ = node.takeClosure()
      NodeCache.put(other, thread)
      NodeCache.put(node, thread)
    }
  }

  @Test func `moves a closure in and out without keeping it`() {
    withNode { node, thread in
      let ended = Counter()
      var witness: Witness? = Witness { ended.add() }
      node.putClosure { [witness] in withExtendedLifetime(witness) {} }
      witness = nil
      #expect(ended.value == 0)
      do {
        let work = node.takeClosure()
        #expect(ended.value == 0)
        work()
      }
      #expect(ended.value == 1)
      NodeCache.put(node, thread)
    }
  }

  @Test func `is free again before its closure runs`() {
    withNode { node, thread in
      let again = Box<Bool>(false)
      let address = UInt(bitPattern: node.raw)
      node.entry = WorkNode.closureEntry
      node.traits = []
      node.putClosure {
        let thread = currentThread()
        let next = NodeCache.take(thread)
        again.value = UInt(bitPattern: next.raw) == address
        NodeCache.put(next, thread)
      }
      node.run(on: thread)
      #expect(again.value)
    }
  }

  @Test(arguments: Band.allCases, [0, -15])
  func `carries QoS beside its flags`(band: Band, relativePriority: Int) {
    let qos = PackedQoS(band: band, relativePriority: relativePriority, isEnforced: true)
    var traits = WorkTraits(qos: qos, barrier: true)
    #expect(traits.qos == qos && traits.contains(.barrier))
    traits.formUnion([.carried, .lane, .waiter])
    #expect(traits.qos == qos)
    #expect(!WorkTraits(qos: qos).contains(.barrier))
  }
}
