// Members that all objects of the API have, on objects that ignore them; and the default target of
// a queue.
import GrandCentral
import TestSupport
import Testing

@Suite("Any object") struct ObjectTests {
  @Test func `a group works whatever is done to it as an object`() {
    let group = DispatchGroup()
    let elsewhere = DispatchQueue(label: "object.suspended")
    elsewhere.suspend()
    group.setTarget(queue: elsewhere)
    group.suspend()
    let notified = Latch()
    group.enter()
    group.notify(queue: .global()) { notified.open() }
    group.leave()
    #expect(notified.wait(), "the target of a group says nothing of its notifications")
    group.resume()
    group.activate()
    group.setTarget(queue: nil)
    #expect(group.wait(timeout: .now()) == .success)
    elsewhere.resume()
  }

  @Test func `a semaphore works whatever is done to it as an object`() {
    let semaphore: DispatchSemaphore = DispatchSemaphore(value: 0)
    semaphore.setTarget(queue: .main)
    semaphore.setTarget(queue: nil)
    semaphore.suspend()
    semaphore.signal()
    #expect(semaphore.wait(timeout: .now()) == .success)
    semaphore.resume()
    semaphore.activate()
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
  }

  @Test(arguments: QueueKind.allCases)
  func `a queue without a target of its own does not wait for the one it had`(kind: QueueKind) {
    let target = DispatchQueue(label: "object.target")
    target.suspend()
    var attributes = kind.attributes
    attributes.insert(.initiallyInactive)
    let queue = DispatchQueue(label: "object.queue", attributes: attributes, target: target)
    queue.setTarget(queue: nil)
    queue.activate()
    let ran = Latch()
    queue.async { ran.open() }
    #expect(ran.wait())
    target.resume()
  }

  @Test func `an active queue changes to the default target behind what was submitted before`() {
    let target = DispatchQueue(label: "object.before")
    let queue = DispatchQueue(label: "object.active", target: target)
    let order = Log<String>()
    let onTarget = Log<Bool>()
    let key = DispatchSpecificKey<Bool>()
    target.setSpecific(key: key, value: true)
    target.suspend()
    for name in ["first", "second"] {
      queue.async {
        order.append(name)
        onTarget.append(DispatchQueue.getSpecific(key: key) ?? false)
      }
      if name == "first" { queue.setTarget(queue: nil) }
    }
    target.resume()
    #expect(order.waitForCount(2) && onTarget.waitForCount(2))
    #expect(order.all == ["first", "second"])
    #expect(onTarget.all == [true, false])
  }
}
