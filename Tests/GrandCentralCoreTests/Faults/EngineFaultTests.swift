// Faults of the engine, made on purpose. A state that only a bug in the engine can cause is
// reported as such a bug, with the object's name, and stops the process.
import Glibc
import Testing

@testable import GrandCentralCore

/// Checks that an exit test ended with one report of an engine fault.
private func expectEngineReport(
  _ result: ExitTest.Result?, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(says(result, "BUG IN GRAND CENTRAL: " + text), sourceLocation: sourceLocation)
  #expect(!says(result, "BUG IN CLIENT"), "blames the client", sourceLocation: sourceLocation)
}

@Suite("The engine's own mistake is reported") struct EngineFaultTests {
  @Test func `when an invariant does not hold`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      invariant(true, "passed")
      invariant(1 + 1 == 3, "One and one are not three.")
    }
    expectEngineReport(result, "One and one are not three.")
    #expect(!says(result, "passed"))
  }

  #if DEBUG
    @Test func `when an invalid state word is written`() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { Atomic(PollerState.empty).transition(to: { $0.entering() }) }
      expectEngineReport(
        result, "A PollerState went from 0x0 to 0x10000, which is no state of its protocol.")
    }
  #endif

  @Test func `when work is sent to an object that is no root`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { submit(to: NamelessLane(kind: .root, qos: .unspecified, target: nil)) }
    expectEngineReport(result, "Queue 'nameless' is no root.")
  }

  @Test func `when a bound queue has no thread to wake`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { submit(to: NamelessLane(kind: .bound, qos: .unspecified, target: nil)) }
    expectEngineReport(result, "Queue 'nameless' is bound to no thread.")
  }

  @Test func `when a queue of unknown kind should go back to its default target`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let lane = NamelessLane(kind: .serial, qos: .unspecified, target: nil)
      lane.setTarget(queue: nil)
    }
    expectEngineReport(result, "Queue 'nameless' has no default target.")
  }

  @Test func `when an object without a count should count a node off`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let thread = currentThread()
      let group = DispatchGroup()
      let node = NodeCache.take(thread)
      node.traits = .carried
      node.carrier = Unmanaged.passUnretained(group).toOpaque()
      node.run(on: thread)
    }
    expectEngineReport(result, "A node is carried by an object that carries none.")
  }
}

@Suite("A report") struct FaultReportTests {
  @Test func `stops the process although standard error is closed`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      close(STDERR_FILENO)
      clientFault("unheard")
    }
    #expect(!says(result, "unheard"))
  }
}

@Suite("A queue that is suspended too often") struct SuspensionFaultTests {
  @Test func `is reported, with its name`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "fault.suspended")
      queue.suspend()
      queue.suspend()
      // The state after about two billion calls, which would take half a minute.
      queue.suspension.store(Suspension(count: Suspension.maxCount - 1), ordering: .relaxed)
      queue.suspend()
      queue.suspend()
    }
    #expect(
      says(
        result, "BUG IN CLIENT OF GRAND CENTRAL: Queue 'fault.suspended' was suspended too often."))
    #expect(says(result, "Balance suspend() with resume()."))
  }
}

private func submit(to lane: Lane) {
  let thread = currentThread()
  let node = NodeCache.take(thread)
  node.putClosure {}
  node.entry = WorkNode.closureEntry
  node.traits = WorkTraits(qos: .unspecified)
  lane.submit(node, from: thread)
}

/// A lane that is neither a queue nor a source.
private final class NamelessLane: Lane, @unchecked Sendable {
  override var laneLabel: String { "nameless" }
}
