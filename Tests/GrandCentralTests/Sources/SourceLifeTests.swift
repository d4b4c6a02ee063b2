// Activation, suspension, cancellation and release of sources: contract rows S2, S4, S5.
import GrandCentral
import TestSupport
import Testing

@Suite("A source") struct SourceLifeTests {
  private let queue = DispatchQueue(label: "sources.life")

  @Test func `does nothing before it is activated`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let calls = Log<String>()
    source.setRegistrationHandler { calls.append("registered") }
    source.setEventHandler { calls.append("event \(source.data)") }
    source.add(data: 2)
    settle()
    #expect(calls.count == 0)
    source.activate()
    #expect(calls.waitForCount(2))
    #expect(calls.all == ["registered", "event 2"])
    source.cancel()
  }

  @Test func `starts by resume() as by activate()`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let event = Latch()
    source.setEventHandler { event.open() }
    source.resume()
    source.add(data: 1)
    #expect(event.wait())
    source.cancel()
  }

  @Test func `that is suspended delivers once on resume`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.activate()
    source.suspend()
    queue.sync {}
    for _ in 0..<5 { source.add(data: 1) }
    settle()
    #expect(log.count == 0)
    source.resume()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == [5])
    source.cancel()
  }

  @Test func `starts no handler after a replaced handler's captures have cancelled it`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<String>()
    let (first, done) = (Latch(), Latch())
    do {
      let owner = Canceller(source, log)
      source.setEventHandler { withExtendedLifetime(owner) { first.open() } }
    }
    source.setCancelHandler { done.open() }
    source.activate()
    source.add(data: 1)
    #expect(first.wait())
    // The event waits on the suspended queue, with the handler still unreplaced.
    source.suspend()
    source.add(data: 1)
    source.setEventHandler { log.append("event") }
    source.resume()
    #expect(done.wait())
    #expect(log.all == ["event", "cancelled"] || log.all == ["cancelled"])
  }

  @Test func `once cancelled runs the cancel handler once, last, and no event handler`() {
    for _ in 0..<200 {
      let source = DispatchSource.makeUserDataAddSource(queue: queue)
      let log = Log<String>()
      let done = Latch()
      source.setEventHandler { log.append("event") }
      source.setCancelHandler {
        log.append("cancelled")
        done.open()
      }
      source.activate()
      let adder = TestThread("adder") { for _ in 0..<20 { source.add(data: 1) } }
      let canceller = TestThread("canceller") {
        source.cancel()
        source.cancel()
      }
      #expect(adder.join() && canceller.join() && done.wait())
      queue.sync {}
      #expect(source.isCancelled)
      #expect(log.all.filter { $0 == "cancelled" }.count == 1)
      #expect(log.all.last == "cancelled")
    }
  }

  @Test func `cancelled while suspended waits for resume with its cancel handler`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<String>()
    source.setEventHandler { log.append("event") }
    source.setCancelHandler { log.append("cancelled") }
    source.activate()
    source.suspend()
    source.add(data: 1)
    source.cancel()
    settle()
    #expect(log.count == 0)
    source.resume()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == ["cancelled"])
  }

  @Test func `cancelled before it was active runs its cancel handler when it is activated`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<String>()
    source.setRegistrationHandler { log.append("registered") }
    source.setCancelHandler { log.append("cancelled") }
    source.cancel()
    source.activate()
    #expect(log.waitForCount(1))
    settle()
    #expect(log.all == ["cancelled"])
  }

  @Test func `releases its handlers when it is cancelled`() {
    let gone = Latch(2)
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    do {
      let event = Witness { gone.open() }
      let cancel = Witness { gone.open() }
      source.setEventHandler { _ = event }
      source.setCancelHandler { _ = cancel }
    }
    source.activate()
    source.cancel()
    #expect(gone.wait())
  }

  @Test func `without a cancel handler releases its event handler on its queue`() {
    let key = DispatchSpecificKey<Int>()
    let own = DispatchQueue(label: "sources.own")
    own.setSpecific(key: key, value: 1)
    let places = Log<Int?>()
    // An idle source, a suspended one, one with pending events, and one whose handler is a work
    // item.
    for kind in 0..<4 {
      let source = DispatchSource.makeUserDataAddSource(queue: own)
      do {
        let kept = Witness { places.append(DispatchQueue.getSpecific(key: key)) }
        let item = DispatchWorkItem { _ = kept }
        if kind == 3 {
          source.setEventHandler(handler: item)
        } else {
          source.setEventHandler { _ = kept }
        }
      }
      source.activate()
      if kind == 1 { source.suspend() }
      own.suspend()
      if kind == 2 { source.add(data: 1) }
      source.cancel()
      #expect(source.isCancelled)
      #expect(places.count == kind, "its queue had not run")
      own.resume()
      if kind == 1 { source.resume() }
      #expect(places.waitForCount(kind + 1))
    }
    #expect(places.all == [1, 1, 1, 1])
  }

  @Test func `that has ended in place accepts no further handler`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<String>()
    source.setEventHandler {}
    source.activate()
    source.cancel()
    source.setEventHandler { log.append("event") }
    source.setCancelHandler { log.append("cancelled") }
    source.add(data: 1)
    queue.sync {}
    settle()
    #expect(log.count == 0)
  }

  @Test func `without a reference ends without its handlers`() {
    let gone = Latch()
    let calls = Counter()
    do {
      let source = DispatchSource.makeTimerSource(queue: queue)
      let witness = Witness { gone.open() }
      source.setEventHandler {
        _ = witness
        calls.add()
      }
      source.schedule(deadline: .now() + .seconds(3600))
      source.activate()
      queue.sync {}
    }
    #expect(gone.wait())
    #expect(calls.value == 0)
  }

  @Test func `accepts work items as handlers`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let event = Latch()
    let cancelled = Latch()
    source.setEventHandler(handler: DispatchWorkItem { event.open() })
    source.setCancelHandler(handler: DispatchWorkItem { cancelled.open() })
    source.activate()
    source.add(data: 1)
    #expect(event.wait())
    source.cancel()
    #expect(cancelled.wait())
  }

  @Test func `whose handler is replaced calls the new one from then on`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<Int>()
    source.setEventHandler { log.append(1) }
    source.activate()
    source.add(data: 1)
    #expect(log.waitForCount(1))
    source.setEventHandler { log.append(2) }
    source.add(data: 1)
    #expect(log.waitForCount(2))
    source.setEventHandler(handler: nil)
    source.add(data: 1)
    settle()
    #expect(log.all == [1, 2])
    source.cancel()
  }

  @Test func `delivers later events on its new queue`() {
    let other = DispatchQueue(label: "sources.other")
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let done = Latch()
    (source as? DispatchSource)?.setTarget(queue: other)
    source.setEventHandler {
      dispatchPrecondition(condition: .onQueue(other))
      done.open()
    }
    source.activate()
    source.add(data: 1)
    #expect(done.wait())
    source.cancel()
  }

  @Test func `released while inactive stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = DispatchSource.makeTimerSource()
    }
    expectReport(result, names: ["timer source"], says: ["activate()"])
  }

  @Test func `asked for what another kind does stops the process and names the fix`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let source = DispatchSource.makeUserDataAddSource()
      source.activate()
      (source as? DispatchSource)?.or(data: 1)
    }
    expectReport(result, says: ["add(data:)"])
  }
}

/// Cancels a source at its end.
private final class Canceller: Sendable {
  private let source: any DispatchSourceUserDataAdd & Sendable
  private let log: Log<String>

  init(_ source: any DispatchSourceUserDataAdd & Sendable, _ log: Log<String>) {
    self.source = source
    self.log = log
  }

  deinit {
    source.cancel()
    log.append("cancelled")
  }
}
