// Deadlock cycles through a reader: a thread that waits behind a barrier waits for the readers
// before it. Each test runs in a process of its own, because a report ends the process.
// Shows contract row Q6.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A reader that waits") struct ReaderDeadlockTests {
  @Test func `for a thread that waits behind a barrier for the reader is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let wide = DispatchQueue(label: "cycle.wide", attributes: .concurrent)
      let narrow = DispatchQueue(label: "cycle.narrow")
      let holder = Waiter()
      let reader = Waiter()
      let isReading = Latch()
      reader.start("cycle-reader") {
        wide.sync {
          isReading.open()
          if holder.isRegistered { narrow.sync {} }
        }
      }
      guard isReading.wait() else { exit(0) }
      wide.async(flags: .barrier) {}
      holder.start("cycle-holder") { narrow.sync { wide.sync {} } }
      _ = holder.join() && reader.join()
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: 2 threads"))
    for name in ["cycle.wide", "cycle.narrow", "cycle-reader", "cycle-holder"] {
      #expect(says(result, "'\(name)'"))
    }
  }

  @Test(arguments: [false, true])
  func `and is waited for later is reported`(isBarrier: Bool) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [isBarrier] in
      let wide = DispatchQueue(label: "cycle.wide", attributes: .concurrent)
      let narrow = DispatchQueue(label: "cycle.narrow")
      let holder = Waiter()
      let reader = Waiter()
      let isHeld = Latch()
      holder.start("cycle-holder") {
        narrow.sync {
          isHeld.open()
          guard reader.isRegistered else { return }
          if isBarrier {
            wide.sync(flags: .barrier) {}
          } else {
            wide.async(flags: .barrier) {}
            wide.sync {}
          }
        }
      }
      guard isHeld.wait() else { exit(0) }
      reader.start("cycle-reader") { wide.sync { narrow.sync {} } }
      _ = holder.join() && reader.join()
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: 2 threads"))
    for name in ["cycle.wide", "cycle.narrow", "cycle-reader", "cycle-holder"] {
      #expect(says(result, "'\(name)'"))
    }
  }

  @Test func `for a thread whose turn has come is not taken for a deadlock`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let wide = DispatchQueue(label: "nocycle.wide", attributes: .concurrent)
      let narrow = DispatchQueue(label: "nocycle.narrow")
      let holder = Waiter()
      let reader = Waiter()
      let isServed = Latch()
      let gate = Latch()
      // Work is queued, so asyncAndWait() sends its closure to another thread instead of running
      // it.
      wide.suspend()
      wide.async {}
      let last = wide.state.load(ordering: .relaxed).pending
      holder.start("nocycle-holder") {
        narrow.sync {
          wide.asyncAndWait {
            isServed.open()
            _ = gate.wait()
          }
        }
      }
      guard eventually({ wide.state.load(ordering: .relaxed).pending != last }) else { exit(1) }
      wide.resume()
      guard isServed.wait() else { exit(2) }
      reader.start("nocycle-reader") {
        wide.sync {
          wide.async(flags: .barrier) {}
          if holder.isRegistered { narrow.sync {} }
        }
      }
      // A registered reader has searched for a cycle.
      guard reader.isRegistered else { exit(3) }
      gate.open()
      exit(holder.join() && reader.join() ? 0 : 4)
    }
  }

  @Test func `for an admitted thread that waits for a CPU is not taken for a deadlock`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      // What it admits does not run before the test says so, as if no CPU were free.
      let root = CapturingRoot()
      let wide = DispatchQueue(label: "nocycle.wide", attributes: .concurrent, target: root)
      let narrow = DispatchQueue(label: "nocycle.narrow")
      let holder = Waiter()
      let reader = Waiter()
      wide.suspend()
      wide.async {}
      let last = wide.state.load(ordering: .relaxed).pending
      holder.start("nocycle-holder") { narrow.sync { wide.asyncAndWait {} } }
      guard eventually({ wide.state.load(ordering: .relaxed).pending != last }) else { exit(1) }
      wide.resume()
      guard root.count == 2 else { exit(2) }
      reader.start("nocycle-reader") {
        wide.sync {
          wide.async(flags: .barrier) {}
          if holder.isRegistered { narrow.sync {} }
        }
      }
      // A registered reader has searched for a cycle.
      guard reader.isRegistered else { exit(3) }
      root.runAll()
      guard holder.join() && reader.join() else { exit(4) }
      // The barrier.
      root.runAll()
      exit(0)
    }
  }
}
