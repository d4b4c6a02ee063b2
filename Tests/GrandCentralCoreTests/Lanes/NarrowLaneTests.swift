// A concurrent lane with a width admits no more items than that. The root runs nothing by itself,
// so admitted items stay inside.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A lane with a width") struct NarrowLaneTests {
  private let root = CapturingRoot()
  private let log = Log<Int>()

  private func make(_ more: DispatchQueue.Attributes = []) -> DispatchQueue {
    DispatchQueue(
      label: "test.narrow", attributes: more.union(.concurrent), target: root)
  }

  private func word(_ queue: DispatchQueue) -> LaneState { queue.state.load(ordering: .relaxed) }

  private func submit(_ numbers: Range<Int>, to queue: DispatchQueue) {
    for number in numbers { queue.async { [log] in log.append(number) } }
  }

  /// Runs all admitted items one by one, and expects never more than `most` inside.
  private func runAll(_ queue: DispatchQueue, atMost most: Int) {
    while root.count > 0 {
      #expect(word(queue).running <= most)
      root.runOldest()
    }
    #expect(word(queue) == LaneState(0))
  }

  @Test(arguments: [1, 2, 5]) func `admits its width, and one item for each that ends`(width: Int) {
    let queue = make()
    queue.setWidth(width)
    submit(0..<20, to: queue)
    #expect(root.count == width)
    runAll(queue, atMost: width)
    #expect(log.all == Array(0..<20))
  }

  @Test func `keeps its width from the activation on`() {
    let queue = make(.initiallyInactive)
    queue.setWidth(3)
    #expect(!word(queue).hasWork, "nothing that would have to run")
    submit(0..<10, to: queue)
    #expect(root.count == 0)
    queue.activate()
    #expect(root.count == 3 && word(queue).running == 3)
    runAll(queue, atMost: 3)
    #expect(log.all == Array(0..<10))
  }

  @Test func `narrows behind items that run, and widens behind items that wait`() {
    let queue = make()
    submit(0..<4, to: queue)
    queue.setWidth(1)
    submit(4..<8, to: queue)
    #expect(root.count == 4, "no more come in before the width has changed")
    for _ in 0..<4 { root.runOldest() }
    #expect(root.count == 1, "the activation that changes it")
    root.runOldest()
    #expect(root.count == 1 && word(queue).running == 1)
    queue.setWidth(3)
    submit(8..<12, to: queue)
    for done in 5..<8 {
      root.runOldest()
      #expect(root.count == 1 && log.count == done)
    }
    root.runOldest()
    #expect(root.count == 1 && word(queue).isLocked, "all those are through")
    root.runOldest()
    #expect(root.count == 3 && word(queue).running == 3)
    runAll(queue, atMost: 3)
    #expect(log.all == Array(0..<12))
  }

  @Test func `counts callers of sync`() {
    let queue = make()
    queue.setWidth(1)
    submit(0..<1, to: queue)
    let reader = TestThread("reader") { [log] in queue.sync { log.append(1) } }
    #expect(eventually { word(queue).hasWork }, "the reader gets in line")
    root.runOldest()
    #expect(reader.join())
    #expect(log.all == [0, 1])
    #expect(word(queue) == LaneState(0))
  }

  @Test func `is at least one and at most the queue's own width`() {
    let queue = make()
    for (asked, width) in [(0, 1), (-1, 1), (.max, LaneState.defaultWidth), (7, 7)] {
      queue.setWidth(asked)
      #expect(queue.widthNow == width)
    }
  }

  @Test func `applies to concurrent queues only`() {
    let serial = DispatchQueue(label: "test.serial")
    serial.setWidth(4)
    #expect(serial.widthNow == 1)
    DispatchQueue.global().setWidth(4)
    #expect(DispatchQueue.global().widthNow == LaneState.defaultWidth)
  }

  @Test func `admits no more iterations of a loop than items`() {
    let narrow = DispatchQueue(label: "test.narrow.loop", attributes: .concurrent)
    narrow.setWidth(1)
    let wide = DispatchQueue(label: "test.wide.loop", attributes: .concurrent, target: narrow)
    let inside = Counter()
    for queue in [narrow, wide] {
      withExtendedLifetime(inside) {
        queue.applyCall(
          iterations: 200,
          { raw, _ in
            let inside = Unmanaged<Counter>.fromOpaque(raw.unsafelyUnwrapped)
            inside._withUnsafeGuaranteedRef {
              $0.add()
              for _ in 0..<1000 { spinHint() }
              $0.add(-1)
            }
          }, Unmanaged.passUnretained(inside).toOpaque())
      }
    }
    #expect(inside.peak == 1)
  }

  @Test func `lets loops inside of items continue under the item's permit`() {
    let narrow = DispatchQueue(label: "test.narrow.nested", attributes: .concurrent)
    narrow.setWidth(2)
    let wide = DispatchQueue(label: "test.wide.nested", attributes: .concurrent, target: narrow)
    for queue in [narrow, wide] {
      let inside = Counter()
      let calls = Counter()
      let ended = Counter()
      let inLine = Counter()
      for _ in 0..<2 {
        queue.async {
          inside.add()
          guard eventually({ inside.value == 2 }) else { return }
          // Both permits are taken.
          queue.applyCall(
            iterations: 50,
            { raw, _ in
              let calls = Unmanaged<Counter>.fromOpaque(raw.unsafelyUnwrapped)
              calls._withUnsafeGuaranteedRef { _ = $0.add() }
            }, Unmanaged.passUnretained(calls).toOpaque())
          if narrow.state.load(ordering: .relaxed).hasWork { inLine.add() }
          if DispatchQueue.current === queue { ended.add() }
        }
      }
      #expect(eventually { ended.value == 2 })
      #expect(calls.value == 100)
      #expect(inLine.value == 0, "no helper waits for a place")
    }
  }

  /// What an iteration of a loop notes.
  private final class Loop: @unchecked Sendable {
    let queue: DispatchQueue
    /// How many holders the queue has during the loop.
    let expected: Int
    let met = Counter()
    let failed = Counter()
    init(_ queue: DispatchQueue, expected: Int = 1) {
      self.queue = queue
      self.expected = expected
    }

    /// Calls `iteration` in a loop on the queue.
    func run(_ iterations: Int, _ iteration: @escaping DispatchQueue.IterationFunction) {
      withExtendedLifetime(self) {
        queue.applyCall(
          iterations: iterations, iteration, Unmanaged.passUnretained(self).toOpaque())
      }
    }

    static let countHolders: DispatchQueue.IterationFunction = { raw, _ in
      let loop = Loop.of(raw)
      if loop.queue.state.load(ordering: .relaxed).running != loop.expected { loop.failed.add() }
    }

    static func of(_ raw: UnsafeMutableRawPointer?) -> Loop {
      Unmanaged<Loop>.fromOpaque(raw.unsafelyUnwrapped).takeUnretainedValue()
    }
  }

  @Test(arguments: [2, 5], [0, 1, 2])
  func `lends its free permits to a loop`(width: Int, items: Int) {
    let queue = make()
    queue.setWidth(width)
    submit(0..<min(items, width - 1), to: queue)
    let inside = word(queue).running
    let threads = min(width - inside, Runtime.shared.pool.width.load(ordering: .relaxed))
    let loop = Loop(queue, expected: inside + threads)
    loop.run(20, Loop.countHolders)
    #expect(loop.failed.value == 0)
    #expect(word(queue).running == inside, "all are given back")
    runAll(queue, atMost: width)
  }

  @Test func `lends nothing to a loop while something is queued`() {
    let queue = make()
    queue.setWidth(3)
    let loop = Loop(queue)
    queue.sync {
      queue.async(flags: .barrier) {}
      loop.run(20, Loop.countHolders)
    }
    #expect(loop.failed.value == 0)
    runAll(queue, atMost: 3)
  }

  @Test func `gives a loop its helper, also right after another loop`() {
    guard Runtime.shared.pool.width.load(ordering: .relaxed) > 1 else { return }
    let narrow = DispatchQueue(label: "test.narrow.meeting", attributes: .concurrent)
    narrow.setWidth(2)
    let wide = DispatchQueue(label: "test.wide.meeting", attributes: .concurrent, target: narrow)
    for queue in [narrow, wide] {
      for _ in 0..<100 {
        let loop = Loop(queue)
        loop.run(2) { raw, _ in
          let loop = Loop.of(raw)
          loop.met.add()
          if !eventually({ loop.met.value == 2 }) { loop.failed.add() }
        }
        guard loop.failed.value == 0 else {
          Issue.record("the iterations did not run at the same time")
          return
        }
      }
    }
  }

  @Test func `of one stops a thread that enters it from inside`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "test.one", attributes: .concurrent)
      queue.setWidth(1)
      queue.sync { queue.sync {} }
    }
    #expect(says(result, "Deadlock: sync on queue 'test.one' from an item of that queue"))
  }
}
