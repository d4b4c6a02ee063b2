// Which threads and lanes are boosted when more urgent work waits behind less urgent work, how far,
// and that each boost ends.
// Shows contract rows G5, P4 and P5.
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

private func effectiveClass() -> Band { EffectivePriority.of(currentThread()) }

private struct Running: @unchecked Sendable {
  let thread = currentThread()
  /// Waits until the thread works at `band` or above.
  func comes(to band: Band) -> Bool { eventually { EffectivePriority.of(thread) >= band } }
}

/// An item that other work waits behind: it announces that it has begun, and ends when the test
/// releases it.
private final class HeldItem: Sendable {
  private let begun = Latch()
  private let gate = Latch()
  private let running = Box<Running?>(nil)

  /// Runs as the item's body.
  func run() {
    running.value = Running()
    begun.open()
    #expect(gate.wait())
  }

  func hasBegun() -> Bool { begun.wait() }
  func letGo() { gate.open() }

  /// Waits until the item's thread works at `band` or above.
  func comes(to band: Band) -> Bool { running.value?.comes(to: band) == true }
  /// Waits until the item's thread works below `band`.
  func falls(below band: Band) -> Bool {
    eventually { running.value.map { EffectivePriority.of($0.thread) < band } == true }
  }
}

@Suite("Urgent work behind less urgent") struct AsyncOverrideTests {
  @Test func `boosts what runs and what is queued ahead of it, and nothing behind it`() {
    let queue = DispatchQueue(label: "override.serial")
    let held = HeldItem()
    let seen = Log<Band>()
    queue.async(qos: .background) {
      seen.append(effectiveClass())
      held.run()
    }
    #expect(held.hasBegun())
    queue.async(qos: .utility) { seen.append(effectiveClass()) }
    queue.async(qos: .userInitiated) { seen.append(effectiveClass()) }
    queue.async(qos: .utility) { seen.append(effectiveClass()) }
    queue.async(qos: .background) { seen.append(effectiveClass()) }
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(seen.waitForCount(5))
    #expect(seen.all == [.background, .userInitiated, .userInitiated, .utility, .background])
  }

  @Test func `does not change the QoS that boosted items see and pass on`() {
    let queue = DispatchQueue(label: "override.blind")
    let other = DispatchQueue(label: "override.blind.other")
    let held = HeldItem()
    let seen = Log<DispatchQoS.QoSClass>()
    queue.async(qos: .background) {
      held.run()
      seen.append(.current)
      other.sync { seen.append(.current) }
      other.async { seen.append(.current) }
    }
    #expect(held.hasBegun())
    queue.async(qos: .userInitiated) {}
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(seen.waitForCount(3))
    #expect(seen.all == [.background, .background, .background])
  }

  @Test(arguments: [false, true])
  func `moves a lane that no worker has taken yet`(urgentFirst: Bool) {
    let root = CapturingRoot()
    let seen = Log<Int>()
    do {
      let queue = DispatchQueue(label: "override.waiting", target: root)
      queue.async(qos: .background) { seen.append(1) }
      #expect(root.bands == [.background])
      queue.async(qos: .background) { seen.append(2) }
      #expect(root.bands == [.background])
      queue.async(qos: .userInitiated) { seen.append(3) }
      queue.async(qos: .utility) { seen.append(4) }
      #expect(root.bands == [.background, .userInitiated])
    }
    // The node that runs first drains the lane. The other retains the lane until it has run.
    root.run(urgentFirst ? 1 : 0)
    #expect(seen.all == [1, 2, 3, 4])
    root.run(urgentFirst ? 0 : 1)
    #expect(seen.all == [1, 2, 3, 4])
  }

  @Test func `reuses a stale node`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "override.again", target: root)
    let runs = Counter()
    for round in 1...100 {
      queue.async(qos: .background) { runs.add() }
      queue.async(qos: .userInitiated) { runs.add() }
      // The background node never runs.
      root.run(round)
      #expect(runs.value == 2 * round)
    }
    #expect(root.bands == [.background] + Array(repeating: .userInitiated, count: 100))
    root.run(0)
  }

  @Test func `boosts the targets of its lane`() {
    let root = CapturingRoot()
    let seen = Log<Int>()
    let below = DispatchQueue(label: "override.below", target: root)
    let above = DispatchQueue(label: "override.above", target: below)
    below.async(qos: .background) { seen.append(1) }
    above.async(qos: .background) { seen.append(2) }
    #expect(root.bands == [.background])
    above.async(qos: .userInitiated) { seen.append(3) }
    #expect(root.bands == [.background, .userInitiated])
    root.runAll()
    #expect(seen.all == [1, 2, 3])
  }

  @Test func `boosts the thread that drains a target, at any depth`() {
    let below = DispatchQueue(label: "override.deep")
    let middle = DispatchQueue(label: "override.deep.middle", target: below)
    let above = DispatchQueue(label: "override.deep.above", target: middle)
    let held = HeldItem()
    let seen = Log<Band>()
    below.async(qos: .background) { held.run() }
    #expect(held.hasBegun())
    above.async(qos: .userInitiated) { seen.append(effectiveClass()) }
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(seen.waitForCount(1))
    below.async(qos: .background) { seen.append(effectiveClass()) }
    #expect(seen.waitForCount(2))
    #expect(seen.all == [.userInitiated, .background])
  }

  @Test func `boosts nothing where the queue has a QoS of its own`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "override.own", qos: .utility, target: root)
    queue.async(qos: .background) {}
    queue.async(qos: .userInitiated) {}
    #expect(root.bands == [.utility])
    queue.async(qos: .userInitiated, flags: .enforceQoS) {}
    #expect(root.bands == [.utility, .userInitiated])
    root.runAll()
  }

  @Test func `is remembered while its queue is suspended`() {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "override.suspended", target: root)
    let seen = Log<Int>()
    queue.suspend()
    queue.async(qos: .background) { seen.append(1) }
    queue.async(qos: .userInitiated) { seen.append(2) }
    #expect(root.bands == [])
    queue.resume()
    #expect(root.bands == [.userInitiated])
    root.runAll()
    #expect(seen.all == [1, 2])
  }

  @Test func `is lowered when an item suspends the queue`() {
    let queue = DispatchQueue(label: "override.suspends")
    let held = HeldItem()
    let ran = Latch()
    queue.async(qos: .background) {
      held.run()
      queue.suspend()
    }
    #expect(held.hasBegun())
    queue.async(qos: .userInitiated) { ran.open() }
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(held.falls(below: .userInitiated))
    queue.resume()
    #expect(ran.wait())
  }

  @Test func `forgets the node that it sent to an old target`() {
    let first = CapturingRoot("override.first")
    let second = CapturingRoot("override.second")
    let queue = DispatchQueue(label: "override.moves", target: first)
    let seen = Log<Int>()
    queue.async(qos: .background) { seen.append(1) }
    queue.async(qos: .userInitiated) { seen.append(2) }
    queue.setTarget(queue: second)
    queue.async(qos: .background) { seen.append(3) }
    first.run(1)
    #expect(seen.all == [1, 2] && second.count == 1)
    first.run(0)
    #expect(seen.all == [1, 2])
    second.runAll()
    #expect(seen.all == [1, 2, 3])
  }
}

@Suite("An urgent thread that waits") struct SyncOverrideTests {
  /// Holds `queue` by sync() from an item of the background class.
  private func hold(_ queue: DispatchQueue, _ inside: @escaping @Sendable () -> Void) -> Latch {
    let ended = Latch()
    DispatchQueue.global(qos: .background).async {
      queue.sync(execute: inside)
      #expect(effectiveClass() == .background)
      #expect(DispatchQoS.QoSClass.current == .background)
      ended.open()
    }
    return ended
  }

  /// Holds `first`, and from there waits to enter `second`. Returns the waiting thread, and a latch
  /// that opens when it has left both.
  private func enter(_ second: DispatchQueue, from first: DispatchQueue) -> (Box<Running?>, Latch) {
    let inFirst = Latch()
    let near = Box<Running?>(nil)
    let ended = hold(first) {
      near.value = Running()
      inFirst.open()
      second.sync {}
    }
    #expect(inFirst.wait())
    return (near, ended)
  }

  @Test(arguments: [false, true])
  func `boosts the queue's owner until it is admitted`(throughTarget: Bool) {
    let queue = DispatchQueue(label: "override.sync")
    let upper = DispatchQueue(label: "override.sync.upper", target: queue)
    let held = HeldItem()
    let ended = hold(queue) { held.run() }
    #expect(held.hasBegun())
    let wasIn = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      (throughTarget ? upper : queue).sync { #expect(effectiveClass() == .userInitiated) }
      wasIn.open()
    }
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(ended.wait() && wasIn.wait())
  }

  @Test func `boosts what is queued ahead of it`() {
    let queue = DispatchQueue(label: "override.sync.items")
    let held = HeldItem()
    let seen = Log<Band>()
    queue.async(qos: .background) { held.run() }
    queue.async(qos: .background) { seen.append(effectiveClass()) }
    #expect(held.hasBegun())
    let wasIn = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      queue.sync {}
      wasIn.open()
    }
    #expect(held.comes(to: .userInitiated))
    queue.async(qos: .background) { seen.append(effectiveClass()) }
    held.letGo()
    #expect(wasIn.wait() && seen.waitForCount(2))
    #expect(seen.all == [.userInitiated, .background])
  }

  @Test func `boosts a chain of owners`() {
    let first = DispatchQueue(label: "override.chain.first")
    let second = DispatchQueue(label: "override.chain.second")
    let gate = Latch()
    let inSecond = Latch()
    let far = Box<Running?>(nil)
    let farEnded = hold(second) {
      far.value = Running()
      inSecond.open()
      #expect(gate.wait())
    }
    #expect(inSecond.wait())
    let (near, nearEnded) = enter(second, from: first)
    let wasIn = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      first.sync {}
      wasIn.open()
    }
    #expect(near.value?.comes(to: .userInitiated) == true)
    #expect(far.value?.comes(to: .userInitiated) == true)
    gate.open()
    #expect(farEnded.wait() && nearEnded.wait() && wasIn.wait())
  }

  @Test
  func
    `boosts the thread in line for the queue and the items ahead of it, behind urgent work`()
  {
    let first = DispatchQueue(label: "override.between.first")
    let second = DispatchQueue(label: "override.between.second")
    let (started, gate) = (Latch(), Latch())
    let seen = Log<Band>()
    // All queued work is on one list, and the most urgent item is ahead of the waiting thread.
    second.suspend()
    second.async(qos: .userInitiated) {
      started.open()
      #expect(gate.wait())
    }
    second.async(qos: .background) { seen.append(effectiveClass()) }
    let (near, nearEnded) = enter(second, from: first)
    #expect(eventually { near.value.map(waits) == true })
    second.resume()
    #expect(started.wait())
    let far = Box<Running?>(nil)
    let wasIn = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      far.value = Running()
      first.sync {}
      wasIn.open()
    }
    #expect(eventually { far.value.map(waits) == true })
    gate.open()
    #expect(nearEnded.wait() && wasIn.wait() && seen.waitForCount(1))
    #expect(seen.all == [.userInitiated])
  }

  private func waits(_ running: Running) -> Bool {
    let shared = running.thread.shared
    return shared.effectivePriorityLock.withLock { shared.waitsFor != nil }
  }

  @Test func `boosts the thread that runs the work item`() {
    let queue = DispatchQueue.global(qos: .background)
    let held = HeldItem()
    let item = DispatchWorkItem { held.run() }
    queue.async(execute: item)
    #expect(held.hasBegun())
    let waited = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      item.wait()
      waited.open()
    }
    #expect(held.comes(to: .userInitiated))
    held.letGo()
    #expect(waited.wait())
    #expect(held.falls(below: .userInitiated))
  }

  @Test func `boosts what is queued ahead of the work item, until its wait times out`() {
    let queue = DispatchQueue(label: "override.item")
    let held = HeldItem()
    let seen = Log<Band>()
    queue.async(qos: .background) { held.run() }
    queue.async(qos: .background) { seen.append(effectiveClass()) }
    let item = DispatchWorkItem(qos: .background) { seen.append(effectiveClass()) }
    queue.async(execute: item)
    #expect(held.hasBegun())
    let gaveUp = Latch()
    DispatchQueue.global(qos: .userInitiated).async {
      #expect(item.wait(timeout: .now() + .seconds(1)) == .timedOut)
      gaveUp.open()
    }
    #expect(held.comes(to: .userInitiated))
    #expect(gaveUp.wait())
    held.letGo()
    #expect(seen.waitForCount(2))
    #expect(seen.all == [.background, .background])
    item.wait()
  }

  @Test func `does not touch the main thread's class`() {
    #expect(PackedQoS(rawValue: 5).band == .userInteractive)
    let main = Runtime.shared.main
    #expect(main.handedDown.isEnforced && main.handedDown.band == .userInteractive)
    let queue = DispatchQueue(label: "override.main", qos: .background, target: main)
    #expect(queue.effectiveQoS(WorkTraits(qos: PackedQoS(.background))).band == .userInteractive)
  }
}
