// The caller receives an error that a closure throws, even if another thread runs the closure.
// Shows contract row Q4.
import GrandCentral
import TestSupport
import Testing

private struct Refusal: Error, Equatable { let number: Int }

@Suite("An error thrown where the queue runs") struct WaitingErrorTests {
  @Test(arguments: QueueKind.allCases)
  func `comes back from asyncAndWait on a busy queue`(kind: QueueKind) {
    let queue = DispatchQueue(label: "throws", attributes: kind.attributes)
    let errors = Log<Refusal>()
    let caller = Box(0)
    let ranOnCaller = Log<Bool>()
    queue.suspend()
    queue.async(flags: .barrier) {}
    let thread = TestThread("caller") {
      caller.value = threadID()
      do {
        try queue.asyncAndWait {
          ranOnCaller.append(threadID() == caller.value)
          throw Refusal(number: 7)
        }
      } catch let refusal as Refusal {
        errors.append(refusal)
      } catch {}
    }
    #expect(eventually { caller.value != 0 && isSleeping(caller.value) })
    queue.resume()
    #expect(thread.join())
    #expect(errors.all == [Refusal(number: 7)])
    #expect(ranOnCaller.all == [false])
  }
}

@Suite("A precondition of a barrier") struct BarrierPreconditionFaultTests {
  @Test func `fails off the queue, and says so`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      dispatchPrecondition(condition: .onQueueAsBarrier(DispatchQueue(label: "barrier.off")))
    }
    expectReport(result, names: ["barrier.off"], says: ["as a barrier", "on no queue"])
  }
}
