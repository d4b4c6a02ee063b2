// A QoS that is set on a queue after its creation and before its activation.
// Shows contract row P3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A QoS given later") struct GivenQoSTests {
  private func makeInactive(_ qos: DispatchQoS = .unspecified) -> DispatchQueue {
    DispatchQueue(label: "test.given", qos: qos, attributes: .initiallyInactive)
  }

  /// The QoS at which an item runs when it is submitted with `item`.
  private func runsAt(_ queue: DispatchQueue, _ item: DispatchQoS) -> DispatchQoS? {
    let found = Box<DispatchQoS?>(nil)
    let isDone = Latch()
    queue.async(qos: item) {
      found.value = PackedQoS(rawValue: currentThread().pointee.qos).dispatchQoS
      isDone.open()
    }
    return isDone.wait() ? found.value : nil
  }

  @Test func `is as if the queue had been made with it`() {
    let queue = makeInactive(.userInitiated)
    let given = DispatchQoS(qosClass: .utility, relativePriority: -4)
    #expect(queue.setQoS(given))
    #expect(queue.qos == given)
    queue.activate()
    for item in [DispatchQoS.background, .userInitiated] { #expect(runsAt(queue, item) == given) }
  }

  @Test func `raises items as a floor, and lowers none`() {
    let queue = makeInactive()
    #expect(queue.setQoS(.utility, isFloor: true))
    #expect(queue.qos == .utility)
    queue.activate()
    #expect(runsAt(queue, .background) == .utility)
    #expect(runsAt(queue, .userInitiated) == .userInitiated)
    let child = DispatchQueue(label: "test.child", target: queue)
    #expect(runsAt(child, .background) == .utility)
  }

  @Test func `does not lower as a floor what a target hands down`() {
    let target = DispatchQueue(label: "test.target", qos: .userInitiated)
    let queue = DispatchQueue(
      label: "test.given", attributes: .initiallyInactive, target: target)
    #expect(queue.setQoS(.utility, isFloor: true))
    queue.activate()
    #expect(runsAt(queue, .background) == .userInitiated)
    let child = DispatchQueue(label: "test.child", target: queue)
    #expect(runsAt(child, .background) == .userInitiated)
  }

  @Test(arguments: [[], DispatchQueue.Attributes.concurrent])
  func `reaches a queue that targeted this one before`(attributes: DispatchQueue.Attributes) {
    let queue = makeInactive()
    let child = DispatchQueue(label: "test.child", attributes: attributes, target: queue)
    #expect(queue.setQoS(.userInitiated))
    queue.activate()
    #expect(runsAt(child, .background) == .userInitiated)
  }

  @Test(arguments: [DispatchQoS.unspecified, .background, .userInitiated])
  func `applies to a source's handlers, whatever its queue has`(queueQoS: DispatchQoS) {
    let queue = DispatchQueue(label: "test.queue", qos: queueQoS)
    for (isFloor, expected) in [
      (false, DispatchQoS.utility), (true, queueQoS == .userInitiated ? queueQoS : .utility),
    ] {
      let source = DispatchSource.makeUserDataAddSource(queue: queue)
      let found = Box<DispatchQoS?>(nil)
      let isDone = Latch()
      source.setEventHandler(qos: .background) {
        found.value = PackedQoS(rawValue: currentThread().pointee.qos).dispatchQoS
        isDone.open()
      }
      #expect(source._source.setQoS(.utility, isFloor: isFloor))
      source.activate()
      source.add(data: 1)
      #expect(isDone.wait() && found.value == expected)
      source.cancel()
    }
  }

  @Test func `has no effect as a floor without a class`() {
    let target = DispatchQueue(label: "test.target", qos: .utility)
    let queue = DispatchQueue(
      label: "test.given", attributes: .initiallyInactive, target: target)
    #expect(queue.setQoS(.unspecified, isFloor: true))
    #expect(queue.ownQoS == .unspecified)
    queue.activate()
    #expect(runsAt(queue, .background) == .utility)
  }

  @Test func `has no effect on an active queue`() {
    let queue = makeInactive(.utility)
    queue.activate()
    #expect(!queue.setQoS(.background) && queue.qos == .utility)
    #expect(!DispatchQueue.main.setQoS(.background))
    #expect(!DispatchQueue.global().setQoS(.background))
  }
}
