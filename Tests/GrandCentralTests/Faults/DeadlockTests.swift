// Deadlocks that are reported: contract rows Q6 and X1.
import Glibc
import GrandCentral
import TestSupport
import Testing

/// Keeps the process alive until another thread reports the mistake.
func waitForReport() { _ = Latch().wait(seconds: deadlineSeconds) }

/// Runs a mistake that hangs if it is not detected. The process then exits after the time limit,
/// which fails the test.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  _ = TestThread("mistake", body).join(seconds: deadlineSeconds)
}

@Suite("A deadlock is reported") struct DeadlockTests {
  @Test func `when sync is called from an item of the same serial queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { selfSync() }
    expectReport(result, names: ["deadlock.self"], says: ["sync", "async|already"])
  }

  @Test func `when sync is called from a worker's item of the same serial queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { selfSyncOnWorker() }
    expectReport(result, names: ["deadlock.worker"], says: ["sync"])
  }

  @Test func `when sync goes from the target to a queue above it`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { syncUpTheHierarchy() }
    expectReport(result, names: ["deadlock.target"], says: ["sync"])
  }

  @Test func `when sync goes from a queue down to its own target`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { syncDownTheHierarchy() }
    expectReport(result, names: ["deadlock.down.target"], says: ["sync"])
  }

  @Test func `when sync goes to a sibling on the same serial target`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { syncToSibling() }
    expectReport(result, names: ["deadlock.shared"], says: ["sync"])
  }

  @Test func `when an outer sync holds the queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { syncThroughAnother() }
    expectReport(result, names: ["deadlock.outer"], says: ["sync"])
  }

  @Test func `when a barrier waits for its own queue's barrier`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { barrierInBarrier() }
    expectReport(result, names: ["deadlock.barrier"], says: ["sync|barrier"])
  }

  @Test func `when a barrier waits for the read that it is called from`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { barrierInRead() }
    expectReport(result, names: ["deadlock.upgrade"], says: ["deadlock", "sync|barrier"])
  }

  @Test func `when two threads wait for each other's queues`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { cycleOfThreads(2) }
    expectReport(
      result, names: ["cycle.queue.0", "cycle.queue.1", "cycle-0", "cycle-1"], says: ["sync|wait"])
  }

  @Test func `when three threads wait in a cycle`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { cycleOfThreads(3) }
    expectReport(
      result,
      names: (0..<3).flatMap { ["cycle.queue.\($0)", "cycle-\($0)"] }, says: ["sync|wait"])
  }

  @Test func `when items on workers wait in a cycle`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { cycleOfItems() }
    expectReport(result, names: ["cycle.item.0", "cycle.item.1"], says: ["sync|wait"])
  }

  @Test func `when the cycle leads through target queues`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { cycleThroughTargets() }
    expectReport(result, names: ["cycle.base.0", "cycle.base.1"], says: ["sync|wait"])
  }

  @Test func `when a work item waits for itself`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { itemWaitsForItself() }
    expectReport(result, says: ["itself|own|deadlock", "wait"])
  }

  @Test func `when a work item waits for one behind it on its serial queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { itemWaitsForTheNext() }
    expectReport(result, names: ["deadlock.next"], says: ["wait"])
  }

  @Test func `when a work item waits for one of a queue that targets its own`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { itemWaitsForTheUpperQueue() }
    expectReport(result, names: ["deadlock.upper", "deadlock.lower"], says: ["wait"])
  }

  @Test func `when a work item waits for a barrier of the queue that it shares`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { itemWaitsForItsBarrier() }
    expectReport(result, names: ["deadlock.shared.item"], says: ["wait"])
  }

  @Test func `and not where another target may let a work item run`() async {
    await #expect(processExitsWith: .success) { itemWaitsForAnInactiveQueue() }
  }

  @Test func `and a handler of the signal that stops the process may use queues`() async {
    await #expect(processExitsWith: .exitCode(23)) {
      useQueuesWhenStopped()
      cycleOfThreads(2)
    }
  }
}

/// Makes the signals of a fault change a target, which takes the lock of all hierarchies, and end
/// the process with a code of its own.
func useQueuesWhenStopped() {
  for number in [SIGILL, SIGTRAP] {
    signal(number) { _ in
      alarm(UInt32(deadlineSeconds))
      DispatchQueue(label: "stopped").setTarget(queue: DispatchQueue(label: "stopped.target"))
      _exit(23)
    }
  }
}

private func itemWaitsForTheUpperQueue() {
  let lower = DispatchQueue(label: "deadlock.lower")
  let upper = DispatchQueue(label: "deadlock.upper", target: lower)
  let item = Box(DispatchWorkItem {})
  lower.async {
    upper.async(execute: item.value)
    item.value.wait()
  }
  waitForReport()
}

private func itemWaitsForItsBarrier() {
  let queue = DispatchQueue(label: "deadlock.shared.item", attributes: .concurrent)
  let item = Box(DispatchWorkItem(flags: .barrier) {})
  queue.async {
    queue.async(execute: item.value)
    item.value.wait()
  }
  waitForReport()
}

/// The wait ends: another thread gives the inactive queue another target.
private func itemWaitsForAnInactiveQueue() {
  let lower = DispatchQueue(label: "lower")
  let upper = DispatchQueue(label: "upper", attributes: .initiallyInactive, target: lower)
  let item = Box(DispatchWorkItem {})
  let (begun, done) = (Latch(), Latch())
  upper.async(execute: item.value)
  lower.async {
    begun.open()
    item.value.wait()
    done.open()
  }
  guard begun.wait() else { exit(1) }
  upper.setTarget(queue: DispatchQueue(label: "free"))
  upper.activate()
  exit(done.wait() ? 0 : 1)
}

private func selfSync() {
  let queue = DispatchQueue(label: "deadlock.self")
  onAnotherThread { queue.sync { queue.sync {} } }
}

private func selfSyncOnWorker() {
  let queue = DispatchQueue(label: "deadlock.worker")
  queue.async { queue.sync {} }
  waitForReport()
}

private func syncUpTheHierarchy() {
  let target = DispatchQueue(label: "deadlock.target")
  let child = DispatchQueue(label: "deadlock.child", target: target)
  onAnotherThread { target.sync { child.sync {} } }
}

private func syncDownTheHierarchy() {
  let target = DispatchQueue(label: "deadlock.down.target")
  let middle = DispatchQueue(label: "deadlock.down.middle", target: target)
  let child = DispatchQueue(label: "deadlock.down.child", target: middle)
  child.async { target.sync {} }
  waitForReport()
}

private func syncToSibling() {
  let target = DispatchQueue(label: "deadlock.shared")
  let left = DispatchQueue(label: "deadlock.left", target: target)
  let right = DispatchQueue(label: "deadlock.right", target: target)
  onAnotherThread { left.sync { right.sync {} } }
}

private func syncThroughAnother() {
  let outer = DispatchQueue(label: "deadlock.outer")
  let inner = DispatchQueue(label: "deadlock.inner")
  onAnotherThread { outer.sync { inner.sync { outer.sync {} } } }
}

private func barrierInBarrier() {
  let queue = DispatchQueue(label: "deadlock.barrier", attributes: .concurrent)
  onAnotherThread { queue.sync(flags: .barrier) { queue.sync(flags: .barrier) {} } }
}

private func barrierInRead() {
  let queue = DispatchQueue(label: "deadlock.upgrade", attributes: .concurrent)
  onAnotherThread { queue.sync { queue.sync(flags: .barrier) {} } }
}

private func cycleOfThreads(_ count: Int) {
  let queues = (0..<count).map { DispatchQueue(label: "cycle.queue.\($0)") }
  let inside = Latch(count)
  for number in 0..<count {
    _ = TestThread("cycle-\(number)") {
      queues[number].sync {
        inside.open()
        _ = inside.wait()
        queues[(number + 1) % count].sync {}
      }
    }
  }
  waitForReport()
}

private func cycleOfItems() {
  let queues = (0..<2).map { DispatchQueue(label: "cycle.item.\($0)") }
  let inside = Latch(2)
  for number in 0..<2 {
    queues[number].async {
      inside.open()
      _ = inside.wait()
      queues[1 - number].sync {}
    }
  }
  waitForReport()
}

private func cycleThroughTargets() {
  let bases = (0..<2).map { DispatchQueue(label: "cycle.base.\($0)") }
  let tops = bases.map { DispatchQueue(label: "cycle.top", attributes: .concurrent, target: $0) }
  let inside = Latch(2)
  for number in 0..<2 {
    _ = TestThread("targets-\(number)") {
      tops[number].sync {
        inside.open()
        _ = inside.wait()
        tops[1 - number].sync {}
      }
    }
  }
  waitForReport()
}

private func itemWaitsForItself() {
  let holder = Box<DispatchWorkItem?>(nil)
  let item = DispatchWorkItem { holder.value?.wait() }
  holder.value = item
  DispatchQueue(label: "deadlock.item").async(execute: item)
  waitForReport()
}

private func itemWaitsForTheNext() {
  let queue = DispatchQueue(label: "deadlock.next")
  let next = Box(DispatchWorkItem {})
  queue.async {
    queue.async(execute: next.value)
    next.value.wait()
  }
  waitForReport()
}
