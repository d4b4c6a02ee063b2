// Rings of waits that lead through a lane that is full: who waits for a place waits for any of those who have one. In
// processes of their own, since a report ends the process.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A place in a lane that is full") struct FullLaneDeadlockTests {
  @Test func `of one, crossed with another's, is reported`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queues = ["ring.one", "ring.other"].map {
        DispatchQueue(label: $0, attributes: .concurrent)
      }
      for queue in queues { queue.setWidth(1) }
      let first = Waiter()
      let second = Waiter()
      let isInside = Latch()
      first.start("ring-first") {
        queues[0].sync {
          isInside.open()
          if second.isRegistered { queues[1].sync {} }
        }
      }
      guard isInside.wait() else { exit(0) }
      second.start("ring-second") { queues[1].sync { queues[0].sync {} } }
      _ = first.join() && second.join()
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: 2 thread(s)"))
    for name in ["ring.one", "ring.other", "ring-first", "ring-second"] {
      #expect(says(result, "'\(name)'"))
    }
  }

  @Test(arguments: [1, 2])
  func `that all of those want who are inside is reported`(threads: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [threads] in
      let queue = DispatchQueue(label: "ring.two", attributes: .concurrent)
      queue.setWidth(2)
      let waiters = (0..<threads).map { _ in Waiter() }
      let inside = Counter()
      for (number, waiter) in waiters.enumerated() {
        waiter.start("ring-\(number)") {
          queue.sync {
            if threads == 1 { return queue.sync { queue.sync {} } }
            inside.add()
            if eventually({ inside.value == threads }) { queue.sync {} }
          }
        }
      }
      for waiter in waiters { _ = waiter.join() }
    }
    #expect(says(result, "Deadlock: \(threads) thread(s)"))
    #expect(says(result, "waits for queue 'ring.two'"))
    for number in 0..<threads { #expect(says(result, "'ring-\(number)'")) }
  }

  @Test func `that one goes on to leave is waited for`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let wide = DispatchQueue(label: "noring.two", attributes: .concurrent)
      wide.setWidth(2)
      let narrow = DispatchQueue(label: "noring.narrow")
      let (holder, reader, other) = (Waiter(), Waiter(), Waiter())
      let isReading = Latch()
      let gate = Latch()
      let isOtherInside = Latch()
      other.start("noring-other") {
        wide.sync {
          isOtherInside.open()
          _ = gate.wait()
        }
      }
      guard isOtherInside.wait() else { exit(1) }
      reader.start("noring-reader") {
        wide.sync {
          isReading.open()
          if holder.isRegistered { narrow.sync {} }
        }
      }
      guard isReading.wait() else { exit(2) }
      holder.start("noring-holder") { narrow.sync { wide.sync {} } }
      // The reader has looked for a ring once it has registered; so has the holder.
      guard reader.isRegistered else { exit(3) }
      gate.open()
      exit(other.join() && holder.join() && reader.join() ? 0 : 4)
    }
  }

  @Test func `of one stops who waits inside for an item of it`() async {
    let told = await #expect(
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
    #expect(says(told, "Deadlock: sync on queue 'one.remote' from an item of that queue"))
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

  @Test func `of one keeps a source's handlers out, so nobody inside waits for them`() {
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
