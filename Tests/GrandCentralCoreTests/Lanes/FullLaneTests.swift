// A concurrent lane admits a limited number of items at a time. The root runs nothing by itself, so
// admitted items stay inside.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A full lane") struct FullLaneTests {
  private static let most = LaneState.defaultWidth
  private func word(_ queue: DispatchQueue) -> LaneState { queue.state.load(ordering: .relaxed) }

  /// Up to where an owner admits.
  private static let limit = LaneState.maxAdmitted

  @Test func `of the default width admits in groups, and never less than one for each that ends`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.full", attributes: .concurrent, target: root)
    let log = Log<Int>()
    let count = Self.limit + 60
    for number in 0..<count { queue.async { log.append(number) } }
    #expect(root.count == Self.most && word(queue).running == Self.most && word(queue).hasWork)
    for ended in 1..<count {
      root.runOldest()
      let admitted = root.count + ended
      #expect(admitted >= min(count, Self.most + ended), "\(ended) have ended")
      #expect(word(queue).running == root.count && root.count <= Self.limit)
      if ended == 1 { #expect(root.count == Self.limit, "one has ended, a group has come") }
    }
    root.runAll()
    #expect(log.all == Array(0..<count), "in order")
    #expect(word(queue) == LaneState(0))
  }

  @Test func `of limited width admits one for each item that ends`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.full.narrow", attributes: .concurrent, target: root)
    queue.setWidth(100)
    root.runAll()
    let log = Log<Int>()
    for number in 0..<103 { queue.async { log.append(number) } }
    #expect(root.count == 100)
    for left in 1...3 {
      root.runOldest()
      #expect(root.count == 100, "one left, one came, \(left) times")
      #expect(word(queue).running == 100)
    }
    #expect(!word(queue).hasWork)
    root.runAll()
    #expect(log.all == Array(0..<103))
    #expect(word(queue) == LaneState(0))
  }

  @Test func `admits a group more than its width when it is activated with more`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(
      label: "test.full.inactive", attributes: [.concurrent, .initiallyInactive], target: root)
    let log = Log<Int>()
    for number in 0..<Self.limit + 5 { queue.async { log.append(number) } }
    queue.activate()
    #expect(root.count == Self.limit)
    #expect(word(queue).running == Self.limit && word(queue).hasBatch && !word(queue).isLocked)
    root.runAll()
    #expect(log.all == Array(0..<Self.limit + 5))
    #expect(word(queue) == LaneState(0))
  }

  @Test func `admits a sync as soon as one item has ended`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.full.sync", attributes: .concurrent, target: root)
    let log = Log<String>()
    for _ in 0..<Self.most { queue.async {} }
    let reader = TestThread("reader") { queue.sync { log.append("sync") } }
    #expect(eventually { word(queue).hasWork }, "the reader gets in line")
    #expect(log.count == 0)
    root.runOldest()
    #expect(reader.join())
    #expect(log.all == ["sync"])
    root.runAll()
    #expect(word(queue) == LaneState(0))
  }
}
