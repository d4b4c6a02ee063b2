// A concurrent lane admits at most LaneState.maxRunning items at a time. The root runs nothing by
// itself, so admitted items stay inside.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A full lane") struct FullLaneTests {
  private static let most = LaneState.maxRunning
  private func word(_ queue: DispatchQueue) -> LaneState { queue.state.load(ordering: .relaxed) }

  @Test func `holds further items until one ends, and then admits one for each`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.full", attributes: .concurrent, target: root)
    let log = Log<Int>()
    for number in 0..<Self.most + 3 { queue.async { log.append(number) } }
    #expect(root.count == Self.most)
    #expect(word(queue).running == Self.most && word(queue).hasWork)
    for left in 1...3 {
      root.runOldest()
      #expect(root.count == Self.most, "one left, one came, \(left) times")
      #expect(word(queue).running == Self.most)
    }
    #expect(!word(queue).hasWork)
    root.runAll()
    #expect(log.all == Array(0..<Self.most + 3))
    #expect(word(queue) == LaneState(0))
  }

  @Test func `admits no more than its width when it is activated with more`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(
      label: "test.full.inactive", attributes: [.concurrent, .initiallyInactive], target: root)
    let log = Log<Int>()
    for number in 0..<Self.most + 5 { queue.async { log.append(number) } }
    queue.activate()
    #expect(root.count == Self.most)
    #expect(word(queue).running == Self.most && word(queue).hasBatch && !word(queue).isLocked)
    root.runAll()
    #expect(log.all == Array(0..<Self.most + 5))
    #expect(word(queue) == LaneState(0))
  }

  @Test func `admits a sync as soon as one item has ended`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.full.sync", attributes: .concurrent, target: root)
    let log = Log<String>()
    for _ in 0..<Self.most { queue.async {} }
    let reader = TestSupport.TestThread("reader") { queue.sync { log.append("sync") } }
    #expect(eventually { word(queue).hasWork }, "the reader gets in line")
    #expect(log.count == 0)
    root.runOldest()
    #expect(reader.join())
    #expect(log.all == ["sync"])
    root.runAll()
    #expect(word(queue) == LaneState(0))
  }
}
