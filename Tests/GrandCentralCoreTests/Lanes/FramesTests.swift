import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The lanes that a thread is on") struct FramesTests {
  /// Returns queues of which each targets the one before it.
  private static func chain(_ count: Int) -> [DispatchQueue] {
    var queues = [DispatchQueue(label: "frames.0")]
    for number in 1..<count {
      queues.append(DispatchQueue(label: "frames.\(number)", target: queues[number - 1]))
    }
    return queues
  }

  /// The given queues that the calling thread is on, as a search finds them.
  private static func found(_ queues: [DispatchQueue]) -> [DispatchQueue] {
    var found: [DispatchQueue] = []
    _ = Frames.search(currentThread()) { lane in
      found += queues.filter { $0.address == lane.toOpaque() }
      return false
    }
    return found
  }

  @Test func `are found once each, however deeply their drains are nested`() {
    let (chain, other) = (Self.chain(40), Self.chain(3))
    let seen = Log<[DispatchQueue]>()
    let done = Latch()
    chain[39].async {
      seen.append(Self.found(chain))
      seen.append(other[2].sync { Self.found(chain + other) })
      // From the middle of the chain, an item that a drain runs.
      chain[19].async {
        seen.append(Self.found(chain))
        done.open()
      }
    }
    #expect(done.wait())
    let inside = Array(chain.reversed())
    #expect(seen.all[0] == inside)
    #expect(seen.all[1] == other.reversed() + inside)
    #expect(seen.all[2] == inside.suffix(20))
    #expect(chain[0].isCurrent(on: currentThread()) == false)
  }

  @Test func `end with the item, also where an exception has left them`() {
    let (outer, left) = (DispatchQueue(label: "frames.outer"), DispatchQueue(label: "frames.left"))
    let seen = Log<[DispatchQueue]>()
    let done = Latch()
    // One activation runs both items.
    outer.suspend()
    outer.async {
      // As many as need more memory than a thread begins with.
      for _ in 0..<20 { _ = currentThread().enterFrame(of: left.address) }
      seen.append(Self.found([outer, left]))
    }
    outer.async {
      seen.append(Self.found([outer, left]))
      done.open()
    }
    outer.resume()
    #expect(done.wait())
    #expect(seen.all == [[left, outer], [outer]])
  }
}
