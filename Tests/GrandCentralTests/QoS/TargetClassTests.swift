// The class that a target hands down: contract row P3.
import GrandCentral
import TestSupport
import Testing

/// Contract P3: a queue without a class has the class of its nearest target that has one.
@Suite("The class of a target") struct TargetClassTests {
  static let classes: [DispatchQoS.QoSClass] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  enum Shape: CaseIterable, Sendable { case serial, concurrent, chain, concurrentOnSerial }

  /// The top queue of a chain of targets that ends at `root`.
  private static func queue(_ shape: Shape, on root: DispatchQueue) -> DispatchQueue {
    switch shape {
    case .serial: DispatchQueue(label: "class.serial", target: root)
    case .concurrent:
      DispatchQueue(label: "class.concurrent", attributes: .concurrent, target: root)
    case .chain:
      DispatchQueue(
        label: "class.top",
        target: DispatchQueue(
          label: "class.middle", target: DispatchQueue(label: "class.bottom", target: root)))
    case .concurrentOnSerial:
      DispatchQueue(
        label: "class.top", attributes: .concurrent,
        target: DispatchQueue(label: "class.bottom", target: root))
    }
  }

  /// The classes at which items of `queue` run when a thread of class `submitter` submits them.
  private static func seen(on queue: DispatchQueue, from submitter: DispatchQoS.QoSClass)
    -> Set<DispatchQoS.QoSClass>
  {
    let found = Log<DispatchQoS.QoSClass>()
    let done = Latch(5)
    let note: @Sendable () -> Void = {
      found.append(.current)
      done.open()
    }
    DispatchQueue.global(qos: submitter).async {
      queue.async(execute: note)
      queue.async(flags: .barrier, execute: note)
      queue.async(qos: .userInitiated, execute: note)
      queue.async(qos: .background, execute: note)
      queue.asyncAfter(deadline: .now(), execute: note)
    }
    #expect(done.wait())
    return Set(found.all)
  }

  @Test(arguments: classes, Shape.allCases)
  func `is that of every item, whatever submits it`(
    given: DispatchQoS.QoSClass, shape: Shape
  ) {
    let queue = Self.queue(shape, on: .global(qos: given))
    for submitter in Self.classes {
      #expect(Self.seen(on: queue, from: submitter) == [given])
    }
  }

  @Test(arguments: classes, Shape.allCases)
  func `counts from the change of the target on`(given: DispatchQoS.QoSClass, shape: Shape) {
    let queue = Self.queue(shape, on: .global(qos: .utility))
    queue.setTarget(queue: DispatchQueue.global(qos: given))
    #expect(Self.seen(on: queue, from: .userInitiated) == [given])
    let inactive = DispatchQueue(label: "class.inactive", attributes: .initiallyInactive)
    inactive.setTarget(queue: queue)
    inactive.activate()
    #expect(Self.seen(on: inactive, from: .userInitiated) == [given])
  }

  @Test func `counts for what is queued behind a change of the target`() {
    let queue = DispatchQueue(label: "class.busy")
    let (begun, mayEnd) = (Latch(1), Latch(1))
    queue.async {
      begun.open()
      _ = mayEnd.wait()
    }
    #expect(begun.wait())
    let found = Log<DispatchQoS.QoSClass>()
    queue.async(qos: .userInitiated) { found.append(.current) }
    queue.setTarget(queue: DispatchQueue.global(qos: .background))
    queue.async(qos: .userInitiated) { found.append(.current) }
    mayEnd.open()
    queue.sync {}
    #expect(found.all == [.userInitiated, .background])
  }

  @Test func `gives way to the queue's own, and to what is enforced`() {
    let low = DispatchQueue.global(qos: .background)
    let own = DispatchQueue(label: "class.own", qos: .userInitiated, target: low)
    #expect(Self.seen(on: own, from: .utility) == [.userInitiated])
    let plain = DispatchQueue(label: "class.plain", target: low)
    let found = Log<DispatchQoS.QoSClass>()
    plain.async(qos: .userInitiated, flags: .enforceQoS) { found.append(.current) }
    plain.async(qos: .userInitiated) { found.append(.current) }
    plain.async(execute: DispatchWorkItem(qos: .userInitiated) { found.append(.current) })
    plain.sync {}
    #expect(found.all == [.userInitiated, .background, .background])
  }

  @Test func `is that of a source's handlers`() {
    let queue = DispatchQueue(label: "class.handlers", target: .global(qos: .background))
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let found = Log<DispatchQoS.QoSClass>()
    let done = Latch(1)
    source.setRegistrationHandler { found.append(.current) }
    source.setEventHandler(qos: .userInitiated) {
      found.append(.current)
      source.cancel()
    }
    source.setCancelHandler(
      handler: DispatchWorkItem(qos: .userInitiated) {
        found.append(.current)
        done.open()
      })
    source.activate()
    source.add(data: 1)
    #expect(done.wait())
    #expect(found.all == [.background, .background, .background])
  }
}
