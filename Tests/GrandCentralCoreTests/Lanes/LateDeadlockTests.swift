// Deadlock cycles that close after every thread of them has registered its wait and searched: only
// a later search finds them. Each test runs in a process of its own, because a report ends the
// process.
// Shows contract row Q6.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A deadlock cycle that closes late") struct LateDeadlockTests {
  @Test func `by a resume that lets a barrier come first is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let wide = DispatchQueue(label: "late.upper", attributes: .concurrent)
      let narrow = DispatchQueue(label: "late.narrow")
      let (reader, holder) = (Waiter(), Waiter())
      let (isHeld, isReading) = (Latch(), Latch())
      holder.start("late-holder") {
        narrow.sync {
          isHeld.open()
          guard isReading.wait() else { return }
          // The barrier and the wait stay in line.
          wide.suspend()
          wide.async(flags: .barrier) {}
          wide.sync {}
        }
      }
      guard isHeld.wait() else { exit(0) }
      reader.start("late-other") {
        wide.sync {
          isReading.open()
          narrow.sync {}
        }
      }
      guard reader.isRegistered && holder.isRegistered else { exit(0) }
      wide.resume()
      _ = holder.join() && reader.join()
    }
    expectCycle(result)
  }

  @Test func `by a resume that sends a queue to a target that is held is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let target = DispatchQueue(label: "late.target")
      let upper = DispatchQueue(label: "late.upper", target: target)
      let narrow = DispatchQueue(label: "late.narrow")
      let (inTarget, holder) = (Waiter(), Waiter())
      let (isHeld, isInside) = (Latch(), Latch())
      holder.start("late-holder") {
        narrow.sync {
          isHeld.open()
          guard isInside.wait() else { return }
          upper.suspend()
          upper.async {}
          upper.sync {}
        }
      }
      guard isHeld.wait() else { exit(0) }
      inTarget.start("late-other") {
        target.sync {
          isInside.open()
          narrow.sync {}
        }
      }
      guard inTarget.isRegistered && holder.isRegistered else { exit(0) }
      upper.resume()
      _ = holder.join() && inTarget.join()
    }
    expectCycle(result)
  }

  @Test func `by a holder that leaves the items before a barrier is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let wide = DispatchQueue(label: "late.upper", attributes: .concurrent)
      wide.setWidth(2)
      let narrow = DispatchQueue(label: "late.narrow")
      let (other, reader, holder) = (Waiter(), Waiter(), Waiter())
      let (isHeld, isReading, gate) = (Latch(), Latch(), Latch())
      let inside = Counter()
      // Holds a permit, and waits for no queue.
      other.start("late-permit") {
        wide.sync {
          inside.add()
          _ = gate.wait()
        }
      }
      holder.start("late-holder") {
        narrow.sync {
          isHeld.open()
          guard isReading.wait() && eventually({ inside.value == 2 }) else { return }
          // Waits for a permit, and keeps the barrier from being first.
          wide.async {}
          wide.async(flags: .barrier) {}
          wide.sync {}
        }
      }
      guard isHeld.wait() else { exit(0) }
      reader.start("late-other") {
        wide.sync {
          inside.add()
          isReading.open()
          narrow.sync {}
        }
      }
      guard reader.isRegistered && holder.isRegistered else { exit(0) }
      gate.open()
      _ = other.join() && holder.join() && reader.join()
    }
    expectCycle(result)
  }

  private func expectCycle(_ result: ExitTest.Result?) {
    #expect(
      says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: 2 threads wait for each other"))
    for name in ["late.upper", "late.narrow", "late-holder", "late-other"] {
      #expect(says(result, "'\(name)'"))
    }
  }
}
