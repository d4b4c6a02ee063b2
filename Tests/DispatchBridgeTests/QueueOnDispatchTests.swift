// A queue of Grand Central whose items run on a queue of Dispatch.
import Foundation
import GrandCentral
import GrandCentralDispatchBridge
import TestSupport
import Testing

@Suite("A queue of Grand Central on a queue of Dispatch", .timeLimit(.minutes(30)))
struct QueueOnDispatchTests {
  @Test func `runs its items in order, on the queue`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.order")
    let ours = theirs.makeGrandCentralQueue(label: "theirs.order.ours")
    #expect(ours.label == "theirs.order.ours")
    let log = Log<Int>()
    for number in 0..<1000 {
      ours.async {
        GrandCentral.dispatchPrecondition(condition: .onQueue(ours))
        Dispatch.dispatchPrecondition(condition: .onQueue(theirs))
        log.append(number)
      }
    }
    #expect(log.waitForCount(1000))
    #expect(log.all == Array(0..<1000))
  }

  @Test func `is entered by sync from an item of a concurrent host, which it does not wait for`() {
    for theirs in [
      Dispatch.DispatchQueue(label: "theirs.wide", attributes: .concurrent),
      Dispatch.DispatchQueue.global(),
    ] {
      let ours = theirs.makeGrandCentralQueue(label: "theirs.wide.ours")
      let isInside = theirs.sync { ours.sync { 42 } == 42 }
      #expect(isInside)
      let done = Latch()
      theirs.async {
        ours.asyncAndWait {}
        done.open()
      }
      #expect(done.wait())
    }
  }

  @Test func `excludes the queue's own items, for sync too`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.exclusion")
    let first = theirs.makeGrandCentralQueue(label: "theirs.exclusion.first")
    // Behind a queue of its own, and a second one on the same queue.
    let second = DispatchQueue(
      label: "theirs.exclusion.above",
      target: theirs.makeGrandCentralQueue(label: "theirs.exclusion.second"))
    let total = Unguarded(0)
    let threads = Latch(8)
    for kind in 0..<8 {
      Thread.detachNewThread {
        for _ in 0..<300 {
          switch kind % 4 {
          case 0: first.async { total.value += 1 }
          case 1: second.sync { total.value += 1 }
          case 2: theirs.async { total.value += 1 }
          default: first.asyncAndWait { total.value += 1 }
          }
        }
        threads.open()
      }
    }
    #expect(threads.wait())
    first.sync {}
    second.sync {}
    #expect(theirs.sync { total.value } == 2400)
  }

  @Test func `runs a sync where the queue's items run, and passes its error on`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.sync")
    let ours = theirs.makeGrandCentralQueue(label: "theirs.sync.ours")
    #expect(
      ours.sync {
        Dispatch.dispatchPrecondition(condition: .onQueue(theirs))
        return 42
      } == 42)
    #expect(throws: CancellationError.self) { try ours.sync { throw CancellationError() } }
  }

  @Test func `waits while either queue is suspended`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.suspended")
    let ours = theirs.makeGrandCentralQueue(label: "theirs.suspended.ours")
    let log = Log<String>()
    theirs.suspend()
    ours.async { log.append("first") }
    DispatchQueue.global().sync {}
    #expect(log.all.isEmpty)
    theirs.resume()
    #expect(log.waitForCount(1))
    ours.suspend()
    ours.async { log.append("third") }
    theirs.sync { log.append("second") }
    #expect(log.all == ["first", "second"])
    ours.resume()
    #expect(log.waitForCount(3))
  }

  @Test func `is a target for sources`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.source")
    let ours = theirs.makeGrandCentralQueue(label: "theirs.source.ours")
    let handled = Latch()
    let source = DispatchSource.makeUserDataAddSource(queue: ours)
    source.setEventHandler {
      Dispatch.dispatchPrecondition(condition: .onQueue(theirs))
      handled.open()
    }
    source.activate()
    source.add(data: 1)
    #expect(handled.wait())
    source.cancel()
  }

  @Test func `lets the queue's other items in between its own`() {
    let theirs = Dispatch.DispatchQueue(label: "theirs.fairness")
    let ours = theirs.makeGrandCentralQueue(label: "theirs.fairness.ours")
    let hasRun = Box(false)
    let isOver = Latch()
    @Sendable func again() {
      if hasRun.value { return isOver.open() }
      ours.async { again() }
    }
    ours.async { again() }
    theirs.async { hasRun.value = true }
    #expect(isOver.wait())
  }

  @Test func `stops a sync from an item of the queue, and names the fix`() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let theirs = Dispatch.DispatchQueue(label: "theirs.self")
      let ours = theirs.makeGrandCentralQueue(label: "theirs.self.ours")
      theirs.sync { ours.sync {} }
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains("BUG IN CLIENT OF GRAND CENTRAL: "), "\(errors)")
    // In one engine the report names the queue that is held, between two the new one.
    #expect(errors.contains("'theirs.self"), "\(errors)")
  }

  @Test func `leaves nothing behind when it is released at once or with work`() {
    let ended = Counter()
    let ran = Counter()
    for round in 0..<150 {
      useOnce(round, ended, ran)
    }
    #expect(ran.waitForValue((0..<150).filter { $0 % 3 > 0 }.reduce(0, +)))
    #expect(ended.waitForValue(300))
  }

  /// Makes and releases both queues, each with a witness of its end.
  @inline(never)
  private func useOnce(_ round: Int, _ ended: Counter, _ ran: Counter) {
    let theirs = Dispatch.DispatchQueue(label: "theirs.life.\(round)")
    theirs.setSpecific(key: Self.theirKey, value: Witness { ended.add() })
    let ours = theirs.makeGrandCentralQueue(label: "theirs.life.ours")
    ours.setSpecific(key: Self.ourKey, value: Witness { ended.add() })
    if round % 3 > 0 { for _ in 0..<round { ours.async { ran.add() } } }
    if round % 3 == 2 { ours.sync {} }
  }
  private static let theirKey = Dispatch.DispatchSpecificKey<Witness>()
  private static let ourKey = DispatchSpecificKey<Witness>()
}

@Suite("Data of the other library", .timeLimit(.minutes(30))) struct BridgedDataTests {
  @Test func `has the same bytes at the same addresses, from ours to Dispatch's`() {
    let ended = Latch(2)
    let (first, second) = (buffer(of: 1, 5000), buffer(of: 2, 70_000))
    func make() -> Dispatch.DispatchData {
      var ours = DispatchData(bytesNoCopy: first, deallocator: .custom(nil) { ended.open() })
      ours.append(DispatchData(bytesNoCopy: second, deallocator: .custom(nil) { ended.open() }))
      return Dispatch.DispatchData(sharing: ours)
    }
    var theirs: Dispatch.DispatchData? = make()
    var places: [UnsafePointer<UInt8>] = []
    theirs?.enumerateBytes { bytes, _, _ in places.append(bytes.baseAddress!) }
    #expect(places == [first, second].map { $0.bindMemory(to: UInt8.self).baseAddress! })
    // Not by `first`, `last` or an index: the toolchain's library never frees data of which it has
    // returned a region.
    var copy = [UInt8](repeating: 0, count: 75_000)
    #expect(copy.withUnsafeMutableBytes { theirs?.copyBytes(to: $0) } == 75_000)
    #expect(copy == Array(repeating: 1, count: 5000) + Array(repeating: 2, count: 70_000))
    #expect(!ended.isOpen)
    theirs = nil
    #expect(ended.wait())
  }

  @Test func `has the same bytes at the same addresses, from Dispatch's to ours`() {
    let ended = Latch(2)
    let (first, second) = (buffer(of: 3, 5000), buffer(of: 4, 70_000))
    func make() -> DispatchData {
      var theirs = Dispatch.DispatchData(
        bytesNoCopy: first, deallocator: .custom(nil) { ended.open() })
      theirs.append(
        Dispatch.DispatchData(bytesNoCopy: second, deallocator: .custom(nil) { ended.open() }))
      return DispatchData(sharing: theirs)
    }
    var ours: DispatchData? = make()
    var places: [UnsafePointer<UInt8>] = []
    ours?.enumerateBytes { bytes, _, _ in places.append(bytes.baseAddress!) }
    #expect(places == [first, second].map { $0.bindMemory(to: UInt8.self).baseAddress! })
    #expect(ours?.count == 75_000 && ours?.first == 3 && ours?.last == 4)
    // A part of the bytes keeps the other library's value.
    var part = ours?.subdata(in: 6000..<6010)
    ours = nil
    #expect(part.map { Array($0) } == Array(repeating: 4, count: 10))
    #expect(!ended.isOpen)
    part = nil
    #expect(ended.wait())
  }

  @Test func `may be empty, and go there and back`() {
    #expect(Dispatch.DispatchData(sharing: DispatchData.empty).isEmpty)
    #expect(DispatchData(sharing: Dispatch.DispatchData.empty).isEmpty)
    let bytes = Array("there and back".utf8)
    let data = bytes.withUnsafeBytes { DispatchData(bytes: $0) }
    #expect(Array(DispatchData(sharing: Dispatch.DispatchData(sharing: data))) == bytes)
  }

  private func buffer(of byte: UInt8, _ count: Int) -> UnsafeRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: byte)
    return UnsafeRawBufferPointer(memory)
  }
}
