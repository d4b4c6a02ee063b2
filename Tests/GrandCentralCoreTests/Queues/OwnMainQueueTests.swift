// A main queue made by the test and drained by hand; the process has its own.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The main queue") struct OwnMainQueueTests {
  @Test func `runs nothing until it is drained`() {
    let main = MainQueue()
    let log = Log<Int>()
    for number in 0..<3 { main.async { log.append(number) } }
    #expect(log.count == 0)
    #expect(main.drainOnce())
    #expect(log.all == [0, 1, 2])
  }

  @Test func `returns false when nothing was queued`() {
    let main = MainQueue()
    #expect(!main.drainOnce())
    main.async {}
    #expect(main.drainOnce())
    #expect(!main.drainOnce())
  }

  @Test func `leaves what its items add for the next drain`() {
    let main = MainQueue()
    let log = Log<String>()
    main.async {
      log.append("first")
      main.async { log.append("added") }
    }
    main.async { log.append("second") }
    #expect(main.drainOnce())
    #expect(log.all == ["first", "second"])
    #expect(main.drainOnce())
    #expect(log.all == ["first", "second", "added"])
  }

  @Test func `cannot be drained from one of its items`() {
    let main = MainQueue()
    let log = Log<Bool>()
    main.async {
      main.async {}
      log.append(main.drainOnce())
    }
    #expect(main.drainOnce())
    #expect(log.all == [false])
    #expect(main.drainOnce())
  }

  @Test func `runs the items of queues that target it`() {
    let main = MainQueue()
    let queue = DispatchQueue(label: "test.target", target: main)
    let log = Log<Int>()
    for number in 0..<3 { queue.async { log.append(number) } }
    #expect(log.count == 0)
    while main.drainOnce() {}
    #expect(log.all == [0, 1, 2])
  }

  @Test func `has a descriptor that becomes readable when work comes`() throws {
    let main = MainQueue()
    let descriptor = try main.runLoopDescriptor()
    #expect(try main.runLoopDescriptor() == descriptor)
    #expect(!Self.isReadable(descriptor))
    main.async {}
    #expect(Self.isReadable(descriptor))
    #expect(main.drainOnce())
    close(descriptor)
  }

  @Test func `has a descriptor that is readable when work came before it was asked for`() throws {
    let main = MainQueue()
    main.async {}
    let descriptor = try main.runLoopDescriptor()
    #expect(Self.isReadable(descriptor))
    #expect(main.drainOnce())
    close(descriptor)
  }

  @Test func `is drained by workers after the end of the main thread`() {
    let pool = Pool.own(width: 1, threads: 1)
    let runtime = Runtime(pool: pool)
    let (main, log) = (runtime.main, Log<Int>())
    for number in 0..<2 { main.async { log.append(number) } }
    #expect(log.count == 0)
    main.mainThreadEnds()
    main.async { log.append(2) }
    // The item adds another, for which the drain does not stay.
    let submitted = Latch()
    main.async {
      #expect(submitted.wait())
      main.async { log.append(4) }
    }
    main.async { log.append(3) }
    submitted.open()
    let isOwner = main.sync { main.isBoundTo(currentThread()) }
    #expect(isOwner && !main.isBoundTo(currentThread()))
    let done = Latch()
    main.async { done.open() }
    #expect(done.wait())
    #expect(log.all == Array(0..<5))
    #expect(pool.faultsAtRest() == [])
    withExtendedLifetime(runtime) {}
  }

  private static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 1
  }
}
