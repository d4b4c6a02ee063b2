// Preconditions: contract row Q20.
import GrandCentral
import TestSupport
import Testing

@Suite("dispatchPrecondition") struct PreconditionTests {
  @Test func `holds on the queue of the item`() {
    let queue = DispatchQueue(label: "precondition.on")
    queue.sync { dispatchPrecondition(condition: .onQueue(queue)) }
    let done = Latch()
    queue.async {
      dispatchPrecondition(condition: .onQueue(queue))
      done.open()
    }
    #expect(done.wait())
  }

  @Test func `sees through the target hierarchy`() {
    let bottom = DispatchQueue(label: "precondition.bottom")
    let middle = DispatchQueue(
      label: "precondition.middle", attributes: .concurrent, target: bottom)
    let top = DispatchQueue(label: "precondition.top", target: middle)
    let check: @Sendable () -> Void = {
      for queue in [top, middle, bottom] { dispatchPrecondition(condition: .onQueue(queue)) }
    }
    top.sync(execute: check)
    let done = Latch()
    top.async {
      check()
      done.open()
    }
    #expect(done.wait())
    bottom.sync {
      dispatchPrecondition(condition: .onQueue(bottom))
      dispatchPrecondition(condition: .notOnQueue(middle))
      dispatchPrecondition(condition: .notOnQueue(top))
    }
  }

  @Test func `knows a queue that several items share, and what it targets`() {
    let bottom = DispatchQueue(label: "precondition.shared.bottom", attributes: .concurrent)
    let top = DispatchQueue(
      label: "precondition.shared.top", attributes: .concurrent, target: bottom)
    let done = Latch()
    top.sync {
      top.async {
        dispatchPrecondition(condition: .onQueue(top))
        dispatchPrecondition(condition: .onQueue(bottom))
        done.open()
      }
      dispatchPrecondition(condition: .onQueue(top))
      dispatchPrecondition(condition: .onQueue(bottom))
      #expect(done.wait())
    }
    dispatchPrecondition(condition: .notOnQueue(top))
    dispatchPrecondition(condition: .notOnQueue(bottom))
  }

  @Test func `knows a queue that another thread holds for the caller`() {
    let queue = DispatchQueue(label: "precondition.lent")
    let busy = Latch()
    let free = Latch()
    queue.async {
      busy.open()
      _ = free.wait()
    }
    #expect(busy.wait())
    let waiter = TestThread("waiter") {
      queue.asyncAndWait {
        dispatchPrecondition(condition: .onQueue(queue))
        dispatchPrecondition(condition: .onQueueAsBarrier(queue))
      }
      dispatchPrecondition(condition: .notOnQueue(queue))
    }
    dispatchPrecondition(condition: .notOnQueue(queue))
    free.open()
    #expect(waiter.join())
  }

  @Test func `knows every queue of nested sync calls`() {
    let outer = DispatchQueue(label: "precondition.outer")
    let inner = DispatchQueue(label: "precondition.inner")
    let hasRun = outer.sync {
      let hasRun = inner.sync {
        dispatchPrecondition(condition: .onQueue(inner))
        dispatchPrecondition(condition: .onQueue(outer))
        return true
      }
      dispatchPrecondition(condition: .notOnQueue(inner))
      return hasRun
    }
    #expect(hasRun)
  }

  @Test func `notOnQueue holds elsewhere`() {
    let queue = DispatchQueue(label: "precondition.not")
    let other = DispatchQueue(label: "precondition.other")
    dispatchPrecondition(condition: .notOnQueue(queue))
    other.sync { dispatchPrecondition(condition: .notOnQueue(queue)) }
    let done = Latch()
    queue.async {
      other.async {
        dispatchPrecondition(condition: .notOnQueue(queue))
        done.open()
      }
    }
    #expect(done.wait())
  }

  @Test func `onQueueAsBarrier holds in a barrier and on a serial queue`() {
    let concurrent = DispatchQueue(label: "precondition.barrier", attributes: .concurrent)
    concurrent.sync(flags: .barrier) {
      dispatchPrecondition(condition: .onQueueAsBarrier(concurrent))
    }
    let done = Latch()
    concurrent.async(flags: .barrier) {
      dispatchPrecondition(condition: .onQueueAsBarrier(concurrent))
      done.open()
    }
    #expect(done.wait())
    let serial = DispatchQueue(label: "precondition.serial")
    serial.sync { dispatchPrecondition(condition: .onQueueAsBarrier(serial)) }
  }

  @Test func `holds in a work item and a notification`() {
    let queue = DispatchQueue(label: "precondition.item")
    let group = DispatchGroup()
    let done = Latch(2)
    queue.async(
      group: group,
      execute: DispatchWorkItem {
        dispatchPrecondition(condition: .onQueue(queue))
        done.open()
      })
    group.notify(queue: queue) {
      dispatchPrecondition(condition: .onQueue(queue))
      done.open()
    }
    #expect(done.wait())
  }
}
