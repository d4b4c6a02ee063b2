// Mistakes with queues: contract rows Q12, Q13, Q16.
import GrandCentral
import TestSupport
import Testing

@Suite("A queue's misuse is reported") struct QueueFaultTests {
  @Test func `when resumed without suspend`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { overResume([]) }
    expectReport(result, names: ["misuse.resume"], says: ["resume", "suspend"])
  }

  @Test func `when a concurrent one is resumed without suspend`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { overResume(.concurrent) }
    expectReport(result, names: ["misuse.resume"], says: ["resume", "suspend"])
  }

  @Test func `when resumed once too often after a nested suspension`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { overResumeNested() }
    expectReport(result, names: ["misuse.nested"], says: ["resume", "suspend"])
  }

  @Test func `when an inactive one is resumed instead of activated`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { resumeInactive() }
    expectReport(result, names: ["misuse.inactive"], says: ["resume", "activate|suspend"])
  }

  @Test func `when released while suspended`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { releaseSuspended() }
    expectReport(result, names: ["misuse.suspended"], says: ["suspended", "resume"])
  }

  @Test func `when released while suspended with work pending`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { releaseSuspendedWithWork() }
    expectReport(result, names: ["misuse.pending"], says: ["suspended", "resume"])
  }

  @Test func `when released without ever being activated`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { releaseInactive() }
    expectReport(result, names: ["misuse.never"], says: ["activate"])
  }

  @Test func `when given a negative number of iterations`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { onAnotherThread { DispatchQueue.concurrentPerform(iterations: -3) { _ in } } }
    expectReport(result, names: ["-3"], says: ["concurrentPerform", "iterations"])
  }

  @Test func `when dispatchMain is called off the main thread`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { dispatchMainElsewhere() }
    expectReport(result, says: ["dispatchMain", "main thread"])
  }
}

@Suite("An impossible target is reported") struct TargetFaultTests {
  @Test func `when a global queue is retargeted`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { DispatchQueue.global(qos: .utility).setTarget(queue: DispatchQueue(label: "target")) }
    expectReport(result, says: ["global", "setTarget"])
  }

  @Test func `when the main queue is retargeted`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { DispatchQueue.main.setTarget(queue: DispatchQueue(label: "target")) }
    expectReport(result, says: ["main", "setTarget"])
  }
}

@Suite("A loop of targets is reported") struct TargetLoopTests {
  @Test func `when a queue targets itself`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { targetLoop(1) }
    expectReport(result, names: ["loop.0"], says: ["target"])
  }

  @Test(arguments: [2, 5]) func `of several queues`(_ count: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [count] in targetLoop(count) }
    expectReport(result, names: (0..<count).map { "loop.\($0)" }, says: ["target"])
  }

  @Test func `of inactive queues`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { inactiveLoop() }
    expectReport(result, names: ["loop.first", "loop.second"], says: ["target"])
  }

  @Test func `when two threads close it from both sides`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { loopFromBothSides() }
    expectReport(result, names: ["loop.left", "loop.right"], says: ["target"])
  }

  @Test func `and a handler of the signal that stops the process may use queues`() async {
    await #expect(processExitsWith: .exitCode(23)) {
      useQueuesWhenStopped()
      targetLoop(2)
    }
  }
}

@Suite("A failed precondition is reported") struct PreconditionFaultTests {
  @Test func `with the expected queue, off any queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { dispatchPrecondition(condition: .onQueue(DispatchQueue(label: "expected.queue"))) }
    expectReport(result, names: ["expected.queue"], says: ["expected|precondition"])
  }

  @Test func `with the expected and the actual queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { checkOnAnotherQueue() }
    expectReport(
      result, names: ["expected.queue", "actual.queue"], says: ["expected|precondition"])
  }

  @Test func `when an item is on the forbidden queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { checkNotOnQueue() }
    expectReport(result, names: ["forbidden.queue"], says: ["not"])
  }

  @Test func `when an item is on a queue that targets the forbidden one`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { checkNotOnTarget() }
    expectReport(result, names: ["forbidden.target"], says: ["not"])
  }

  @Test func `when a read expects to be a barrier`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { checkBarrierInRead() }
    expectReport(result, names: ["barrier.queue"], says: ["barrier"])
  }
}

private func overResume(_ attributes: DispatchQueue.Attributes) {
  DispatchQueue(label: "misuse.resume", attributes: attributes).resume()
}

private func overResumeNested() {
  let queue = DispatchQueue(label: "misuse.nested")
  queue.suspend()
  queue.suspend()
  for _ in 0..<3 { queue.resume() }
}

private func resumeInactive() {
  let queue = DispatchQueue(label: "misuse.inactive", attributes: .initiallyInactive)
  // On macOS the first resume of an inactive queue activates it; the second resume is unbalanced.
  queue.resume()
  queue.resume()
}

private func releaseSuspended() {
  let queue = DispatchQueue(label: "misuse.suspended")
  queue.suspend()
}

private func releaseSuspendedWithWork() {
  do {
    let queue = DispatchQueue(label: "misuse.pending")
    queue.suspend()
    queue.async {}
  }
  waitForReport()
}

private func releaseInactive() {
  _ = DispatchQueue(label: "misuse.never", attributes: .initiallyInactive)
}

private func dispatchMainElsewhere() {
  _ = TestThread("not-main") { dispatchMain() }
  waitForReport()
}

private func targetLoop(_ count: Int) {
  var queues = [DispatchQueue(label: "loop.0", attributes: .initiallyInactive)]
  for number in 1..<max(count, 1) {
    queues.append(DispatchQueue(label: "loop.\(number)", target: queues[number - 1]))
  }
  let all = queues
  onAnotherThread {
    all[0].setTarget(queue: all[count - 1])
    all[0].activate()
    all[0].sync {}
  }
}

private func inactiveLoop() {
  let first = DispatchQueue(label: "loop.first", attributes: .initiallyInactive)
  let second = DispatchQueue(label: "loop.second", attributes: .initiallyInactive)
  onAnotherThread {
    first.setTarget(queue: second)
    second.setTarget(queue: first)
    first.activate()
    second.activate()
    first.sync {}
  }
}

private func loopFromBothSides() {
  let left = DispatchQueue(label: "loop.left")
  let right = DispatchQueue(label: "loop.right")
  let begin = Latch()
  for (queue, target) in [(left, right), (right, left)] {
    _ = TestThread("loop") {
      _ = begin.wait()
      queue.setTarget(queue: target)
    }
  }
  begin.open()
  waitForReport()
}

private func checkOnAnotherQueue() {
  let expected = DispatchQueue(label: "expected.queue")
  DispatchQueue(label: "actual.queue").sync {
    dispatchPrecondition(condition: .onQueue(expected))
  }
}

private func checkNotOnQueue() {
  let queue = DispatchQueue(label: "forbidden.queue")
  queue.sync { dispatchPrecondition(condition: .notOnQueue(queue)) }
}

private func checkNotOnTarget() {
  let target = DispatchQueue(label: "forbidden.target")
  let queue = DispatchQueue(label: "forbidden.child", target: target)
  queue.async { dispatchPrecondition(condition: .notOnQueue(target)) }
  waitForReport()
}

private func checkBarrierInRead() {
  let queue = DispatchQueue(label: "barrier.queue", attributes: .concurrent)
  queue.sync { dispatchPrecondition(condition: .onQueueAsBarrier(queue)) }
}
