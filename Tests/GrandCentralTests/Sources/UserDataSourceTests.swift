// Sources whose events the program sends itself, and the behaviour of all sources: contract rows S1
// to S5.
import GrandCentral
import TestSupport
import Testing

@Suite("A source of user data") struct UserDataSourceTests {
  private let queue = DispatchQueue(label: "sources")

  @Test func `adds up values that come while its handler waits`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.activate()
    queue.suspend()
    for _ in 0..<10 { source.add(data: 3) }
    queue.resume()
    #expect(log.waitForCount(1))
    queue.sync {}
    settle()
    #expect(log.all.reduce(0, +) == 30)
    source.cancel()
  }

  @Test func `joins bits`() {
    let source = DispatchSource.makeUserDataOrSource(queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.suspend()
    source.activate()
    source.or(data: 1)
    source.or(data: 4)
    source.or(data: 1)
    source.resume()
    #expect(log.waitForCount(1))
    #expect(log.all == [5])
    source.cancel()
  }

  @Test func `keeps the last value`() {
    let source = DispatchSource.makeUserDataReplaceSource(queue: queue)
    let log = Log<UInt>()
    source.setEventHandler { log.append(source.data) }
    source.suspend()
    source.activate()
    for value in 1...9 as ClosedRange<UInt> { source.replace(data: value) }
    source.resume()
    #expect(log.waitForCount(1))
    #expect(log.all == [9])
    source.cancel()
  }

  @Test func `ignores zero`() {
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let calls = Counter()
    source.setEventHandler { calls.add() }
    source.activate()
    source.add(data: 0)
    settle()
    #expect(calls.value == 0)
    source.cancel()
  }

  @Test func `loses nothing that many threads add`() {
    let source = DispatchSource.makeUserDataAddSource(queue: DispatchQueue.global())
    let sum = Box<UInt>(0)
    let total = Counter()
    let inside = Counter()
    source.setEventHandler {
      inside.add(1)
      sum.value += source.data
      total.add(Int(source.data))
      inside.add(-1)
    }
    source.activate()
    let threads = (0..<4).map { _ in
      TestThread("adder") { for _ in 0..<5_000 { source.add(data: 1) } }
    }
    #expect(threads.allSatisfy { $0.join() })
    #expect(total.waitForValue(20_000))
    #expect(sum.value == 20_000)
    #expect(inside.peak == 1)
    source.cancel()
  }

  @Test func `runs its handlers on its queue, within the queue's hierarchy`() {
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let log = Log<String>()
    let wrong = Counter()
    let target = queue
    func note(_ name: String) -> @Sendable () -> Void {
      {
        dispatchPrecondition(condition: .onQueue(target))
        if DispatchQueue.getSpecific(key: key) != 7 { wrong.add() }
        log.append(name)
      }
    }
    source.setRegistrationHandler(handler: note("registered"))
    source.setEventHandler(handler: note("event"))
    source.setCancelHandler(handler: note("cancelled"))
    source.activate()
    source.add(data: 1)
    #expect(log.waitForCount(2))
    source.cancel()
    #expect(log.waitForCount(3))
    #expect(log.all == ["registered", "event", "cancelled"])
    #expect(wrong.value == 0)
  }
}
