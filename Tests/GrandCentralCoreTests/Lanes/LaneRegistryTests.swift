import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A table of lanes") struct LaneSlotsTests {
  // A table is never freed: one for each test, which the leak checker finds reachable.
  // SAFETY: one thread uses each.
  private nonisolated(unsafe) static let growing = LaneSlots()
  private nonisolated(unsafe) static let returning = LaneSlots()
  private nonisolated(unsafe) static let visited = LaneSlots()

  @Test func `gives each slot to one lane, and keeps its address while it grows`() {
    var words: [UInt32: UnsafeMutablePointer<UInt64>] = [:]
    for _ in 0..<5000 {
      let slot = Self.growing.take()
      #expect(slot != LaneSlots.none)
      #expect(words.updateValue(Self.growing.word(of: slot), forKey: slot) == nil)
    }
    #expect(Set(words.values).count == words.count)
    #expect(words.allSatisfy { Self.growing.word(of: $0.key) == $0.value })
  }

  @Test func `reuses freed slots, the last first, before new ones`() {
    let taken = (0..<20).map { _ in Self.returning.take() }
    for slot in taken { Self.returning.give(slot) }
    #expect(taken.indices.map { _ in Self.returning.take() } == taken.reversed())
    #expect(!taken.contains(Self.returning.take()))
  }

  @Test func `shows the contents of taken slots only`() {
    let taken = (0..<100).map { _ in Self.visited.take() }
    for (index, slot) in taken.enumerated() {
      Self.visited.word(of: slot).pointee = UInt64(index + 1) << 4
    }
    for slot in taken.prefix(40) { Self.visited.give(slot) }
    Self.visited.word(of: taken[40]).pointee = LaneSlots.unused
    _ = Self.visited.take()
    var seen: [UInt64] = []
    Self.visited.visit { seen.append($0 >> 4) }
    #expect(seen.sorted() == (42...100).map(UInt64.init))
  }
}

@Suite("The registry of lanes") struct LaneRegistryTests {
  @Test func `lists each queue once while other threads create and release queues`() async {
    // In a process of its own, where no other code creates queues.
    _ = await #expect(processExitsWith: .success) {
      // The first queue also creates the engine's own.
      _ = DispatchQueue(label: "first")
      let before = registered()
      let shelf = Shelf()
      let threads = (0..<4).map { number in
        TestThread("registry-\(number)") {
          var random = SeededGenerator(for: "registry \(number)")
          var own: [DispatchQueue] = []
          for step in 0..<stressed(20_000) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: own.append(DispatchQueue(label: "\(number) \(step)"))
            case 1: _ = own.popLast()
            case 2: _ = DispatchQueue(label: "for a moment")
            // Releases a queue that another thread may have created.
            default: shelf.exchange(DispatchQueue(label: "left \(step)"), &random)
            }
          }
          shelf.keep(own)
        }
      }
      if !threads.allSatisfy({ $0.join() }) { exit(2) }
      let alive = shelf.addresses
      let added = registered().filter { !before.contains($0) }
      print("alive \(alive.count), registered \(added.count)")
      exit(added.count == alive.count && Set(added) == alive ? 0 : 1)
    }
  }
}

/// The addresses in the registry. No thread may create or end a lane meanwhile.
private func registered() -> [UInt] {
  var addresses: [UInt] = []
  LaneRegistry.visitAll { addresses.append(UInt(bitPattern: $0.toOpaque())) }
  return addresses
}

/// Queues that threads exchange.
private final class Shelf: @unchecked Sendable {
  private static let size = 16
  private let lock = Lock()
  /// Guarded by the lock.
  private var places = [DispatchQueue?](repeating: nil, count: size)
  private var kept: [DispatchQueue] = []

  func exchange(_ queue: DispatchQueue, _ random: inout SeededGenerator) {
    let place = Int.random(in: 0..<Self.size, using: &random)
    var old: DispatchQueue? = queue
    lock.withLock { swap(&old, &places[place]) }
  }

  func keep(_ queues: [DispatchQueue]) { lock.withLock { kept += queues } }

  var addresses: Set<UInt> {
    Set((places.compactMap { $0 } + kept).map { UInt(bitPattern: $0.address) })
  }
}
