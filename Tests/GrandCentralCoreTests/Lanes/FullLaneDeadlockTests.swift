// Deadlock cycles through a lane at its width: a thread that waits for a permit waits for any
// holder of a permit. Each test runs in a process of its own, because a report ends the process.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A width permit of a full lane") struct FullLaneDeadlockTests {
  @Test func `that two threads take crosswise is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queues = ["cycle.one", "cycle.other"].map {
        DispatchQueue(label: $0, attributes: .concurrent)
      }
      for queue in queues { queue.setWidth(1) }
      let first = Waiter()
      let second = Waiter()
      let isInside = Latch()
      first.start("cycle-first") {
        queues[0].sync {
          isInside.open()
          if second.isRegistered { queues[1].sync {} }
        }
      }
      guard isInside.wait() else { exit(0) }
      second.start("cycle-second") { queues[1].sync { queues[0].sync {} } }
      _ = first.join() && second.join()
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: 2 threads"))
    for name in ["cycle.one", "cycle.other", "cycle-first", "cycle-second"] {
      #expect(says(result, "'\(name)'"))
    }
  }

  @Test(arguments: [1, 2])
  func `that all permit holders wait for is reported`(threads: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [threads] in
      let queue = DispatchQueue(label: "cycle.two", attributes: .concurrent)
      queue.setWidth(2)
      let waiters = (0..<threads).map { _ in Waiter() }
      let inside = Counter()
      for (number, waiter) in waiters.enumerated() {
        waiter.start("cycle-\(number)") {
          queue.sync {
            if threads == 1 { return queue.sync { queue.sync {} } }
            inside.add()
            if eventually({ inside.value == threads }) { queue.sync {} }
          }
        }
      }
      for waiter in waiters { _ = waiter.join() }
    }
    #expect(
      says(result, threads == 1 ? "1 thread waits for itself" : "2 threads wait for each other"))
    #expect(says(result, "waits for queue 'cycle.two'"))
    for number in 0..<threads { #expect(says(result, "'cycle-\(number)'")) }
  }

  @Test func `that a holder will release is waited for`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let wide = DispatchQueue(label: "nocycle.two", attributes: .concurrent)
      wide.setWidth(2)
      let narrow = DispatchQueue(label: "nocycle.narrow")
      let (holder, reader, other) = (Waiter(), Waiter(), Waiter())
      let isReading = Latch()
      let gate = Latch()
      let isOtherInside = Latch()
      other.start("nocycle-other") {
        wide.sync {
          isOtherInside.open()
          _ = gate.wait()
        }
      }
      guard isOtherInside.wait() else { exit(1) }
      reader.start("nocycle-reader") {
        wide.sync {
          isReading.open()
          if holder.isRegistered { narrow.sync {} }
        }
      }
      guard isReading.wait() else { exit(2) }
      holder.start("nocycle-holder") { narrow.sync { wide.sync {} } }
      // A registered thread has searched for a cycle; both threads are registered now.
      guard reader.isRegistered else { exit(3) }
      gate.open()
      exit(other.join() && holder.join() && reader.join() ? 0 : 4)
    }
  }

  @Test func `that a serial queue needs, for which the holders wait, is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let wide = DispatchQueue(label: "cycle.wide", attributes: .concurrent)
      wide.setWidth(2)
      let serial = DispatchQueue(label: "cycle.serial", target: wide)
      let waiters = (0..<2).map { _ in Waiter() }
      let inside = Counter()
      for (number, waiter) in waiters.enumerated() {
        waiter.start("cycle-\(number)") {
          wide.sync {
            inside.add()
            guard eventually({ inside.value == 2 }) else { return }
            // The serial queue waits for a permit because of this item.
            if number == 0 { serial.async {} }
            serial.sync {}
          }
        }
      }
      for waiter in waiters { _ = waiter.join() }
    }
    #expect(says(result, "Deadlock: 2 threads"))
    #expect(says(result, "waits for queue 'cycle.serial'"))
  }

  @Test func `that a serial queue needs comes when a holder that does not wait ends`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let wide = DispatchQueue(label: "nocycle.wide", attributes: .concurrent)
      wide.setWidth(3)
      let serial = DispatchQueue(label: "nocycle.serial", target: wide)
      let (other, waiters) = (Waiter(), [Waiter(), Waiter()])
      let gate = Latch()
      let inside = Counter()
      other.start("nocycle-other") {
        wide.sync {
          inside.add()
          _ = gate.wait()
        }
      }
      for (number, waiter) in waiters.enumerated() {
        waiter.start("nocycle-\(number)") {
          wide.sync {
            inside.add()
            guard eventually({ inside.value == 3 }) else { return }
            if number == 0 { serial.async {} }
            serial.sync {}
          }
        }
      }
      guard waiters.allSatisfy(\.isRegistered) else { exit(1) }
      gate.open()
      exit(other.join() && waiters.allSatisfy { $0.join() } ? 0 : 2)
    }
  }

  @Test func `held by a thread that works for a waiting thread is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "cycle.full", attributes: .concurrent)
      queue.setWidth(1)
      let other = DispatchQueue(label: "cycle.serial")
      let (caller, holder) = (Waiter(), Waiter())
      let gate = Latch()
      let isHeld = Latch()
      queue.async { _ = gate.wait() }
      queue.async {}
      // Work is queued, so the closure is sent to a thread of the pool.
      caller.start("cycle-caller") {
        queue.asyncAndWait { if holder.isRegistered { other.sync {} } }
      }
      guard caller.isRegistered else { exit(0) }
      holder.start("cycle-holder") {
        other.sync {
          isHeld.open()
          queue.sync {}
        }
      }
      guard isHeld.wait() else { exit(0) }
      gate.open()
      _ = caller.join() && holder.join()
    }
    #expect(says(result, "Deadlock: 2 threads"))
    #expect(says(result, "'cycle-holder'") && !says(result, "'cycle-caller'"))
  }

  @Test func `of a width of one stops a holder that waits for an item of the lane`() async {
    let remote = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "one.remote", attributes: .concurrent)
      queue.setWidth(1)
      queue.sync {
        // Work is queued, so the closure would be sent to another thread.
        queue.async {}
        queue.asyncAndWait {}
      }
    }
    #expect(says(remote, "Deadlock: sync on queue 'one.remote' from an item of that queue"))
    let item = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "one.item", attributes: .concurrent)
      queue.setWidth(1)
      queue.sync {
        let item = DispatchWorkItem {}
        queue.async(execute: item)
        item.wait()
      }
    }
    #expect(says(item, "Deadlock: wait() on a DispatchWorkItem"))
  }

  @Test func `of a width of one keeps a source's handlers out, so no holder waits for them`() {
    let queue = DispatchQueue(label: "one.source", attributes: .concurrent)
    queue.setWidth(1)
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    source.setEventHandler {}
    source.activate()
    queue.sync {
      source.add(data: 1)
      source._source.cancelAndWait()
    }
    #expect(source.isCancelled)
  }
}
