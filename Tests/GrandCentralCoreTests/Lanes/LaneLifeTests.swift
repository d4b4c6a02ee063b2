// Lanes on a root that runs nothing by itself, so every interleaving here is fixed.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A lane's life") struct LaneLifeTests {
  private func word(_ queue: DispatchQueue) -> LaneState { queue.state.load(ordering: .relaxed) }

  @Test func `sends one activation however much is queued`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.serial", target: root)
    let log = Log<Int>()
    for number in 0..<3 { queue.async { log.append(number) } }
    #expect(root.count == 1)
    root.runOldest()
    #expect(log.all == [0, 1, 2])
    #expect(root.count == 0)
    #expect(word(queue) == LaneState(0))
  }

  @Test func `sends each shared item at once, and a barrier after the last of them`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.concurrent", attributes: .concurrent, target: root)
    let log = Log<String>()
    queue.async { log.append("first") }
    queue.async { log.append("second") }
    queue.async(flags: .barrier) { log.append("barrier") }
    queue.async { log.append("after") }
    #expect(root.count == 2)
    #expect(word(queue).running == 2 && word(queue).awaitsBarrier)
    root.runAll()
    #expect(log.all == ["first", "second", "barrier", "after"])
    #expect(word(queue) == LaneState(0))
  }

  @Test func `queues itself again after its turn when it has more items`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.long", target: root)
    let log = Log<Int>()
    for number in 0..<1500 { queue.async { log.append(number) } }
    root.runOldest()
    #expect(log.count < 1500 && root.count == 1)
    root.runAll()
    #expect(log.all == Array(0..<1500))
    #expect(word(queue) == LaneState(0))
  }

  @Test func `starts nothing that came after a suspension in the middle of its turn`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.suspended", attributes: .concurrent, target: root)
    let log = Log<String>()
    queue.suspend()
    queue.async { log.append("before") }
    // The drainer is processing the list, and has already checked the suspension.
    root.atNextSubmission {
      queue.suspend()
      queue.async { log.append("after") }
    }
    queue.resume()
    root.runAll()
    #expect(log.all == ["before"])
    queue.resume()
    root.runAll()
    #expect(log.all == ["before", "after"])
    #expect(word(queue) == LaneState(0))
  }

  @Test func `is handed to a sync that waits behind its items`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.handover", target: root)
    let log = Log<String>()
    queue.async { log.append("item") }
    // The waiter is queued when its node is on top of the item's.
    let first = word(queue).pending
    let waiter = TestThread("waiter") { queue.sync { log.append("sync") } }
    #expect(eventually { word(queue).pending != first })
    root.runAll()
    #expect(waiter.join())
    #expect(log.all == ["item", "sync"])
    #expect(word(queue) == LaneState(0))
  }

  /// The operation after which a concurrent lane sends shared items that had to wait.
  enum Release: CaseIterable, Sendable {
    case activation, resumption, barrierSync, readerAfterBarrier
  }

  @Test(arguments: Release.allCases)
  func `lives until the shared items that it let go have run`(release: Release) {
    let root = CapturingRoot()
    let ran = Counter()
    let inactive = release == .activation
    var queue: DispatchQueue? = DispatchQueue(
      label: "test.alive", attributes: inactive ? [.concurrent, .initiallyInactive] : .concurrent,
      target: root)
    weak let alive = queue
    switch release {
    case .activation:
      queue?.async { ran.add() }
      queue?.activate()
    case .resumption:
      queue?.suspend()
      queue?.async { ran.add() }
      queue?.resume()
    case .barrierSync:
      queue?.sync(flags: .barrier) { queue?.async { ran.add() } }
    case .readerAfterBarrier:
      queue?.sync {
        queue?.async(flags: .barrier) {}
        queue?.async { ran.add() }
      }
      root.runOldest()
    }
    #expect(root.count == 1)
    #expect(queue.map { word($0).isHeld } == true, "the lane does not hold itself")
    // Retains a lane that failed to retain itself, so that this test does not use freed memory.
    let rescue = queue.map { word($0).isHeld ? nil : Unmanaged.passRetained($0) } ?? nil
    queue = nil
    #expect(alive != nil)
    root.runAll()
    #expect(ran.value == 1)
    rescue?.release()
    #expect(alive == nil)
  }

  @Test func `wakes every sleeper that its owner admitted`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(
      label: "test.asleep", attributes: [.concurrent, .initiallyInactive], target: root)
    queue.async {}
    queue.async {}
    let sleeper = Box<TestThread?>(nil)
    let context = Box<UInt>(0)
    // activate() owns the lane, has taken both items off the list, and sends the first. A sync now
    // arrives, and waits until it no longer expects a short hold.
    root.atNextSubmission {
      sleeper.value = TestThread("sleeper") {
        context.value = UInt(bitPattern: currentThread())
        queue.sync(flags: .barrier) {}
      }
      let isWaiting = eventually {
        ThreadContext(bitPattern: context.value)
          .map { LongWait.isRegistered($0) } ?? false
      }
      #expect(isWaiting)
    }
    queue.activate()
    #expect(word(queue).isLocked || !word(queue).hasSleepers, "sleepers that no thread will wake")
    root.runAll()
    let isAwake = sleeper.value?.join() ?? false
    #expect(isAwake, "a sync sleeps for ever; the lane: \(LaneWords.describe(word(queue)))")
    // On failure another sync wakes the sleeper, so that this test leaves no thread behind.
    if !isAwake { queue.sync(flags: .barrier) {} }
    #expect(sleeper.value?.join() == true)
  }
}
