import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A pool") struct OwnPoolTests {
  @Test(arguments: [(1, 1), (2, 2), (3, 8)], WorkKind.allCases)
  func `runs each node once`(shape: (width: Int, threads: Int), kind: WorkKind) {
    let pool = Pool.own(width: shape.width, threads: shape.threads)
    let tally = Tally(500)
    let done = Latch(tally.size)
    for number in 0..<tally.size {
      let band = Band.allCases[number % Band.allCases.count]
      pool.submit(kind, band: band) {
        tally.add(number)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(tally.exceptions.isEmpty)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `runs work on threads of its own, named after their workers`() {
    let pool = Pool.own(width: 1, threads: 1)
    let names = Log<String>()
    pool.submit { names.append(threadName()) }
    #expect(names.waitForCount(1))
    #expect(names.all == ["gc-worker-0"])
  }

  @Test func `ends workers that are idle for long, and creates new ones`() {
    let pool = Pool.own(width: 2, threads: 2, keepAliveNanoseconds: 20_000_000)
    for round in 1...3 {
      let bothRun = Latch(2)
      for _ in 0..<2 {
        pool.submit {
          bothRun.open()
          _ = bothRun.wait()
        }
      }
      #expect(bothRun.wait(), "round \(round)")
      #expect(eventually { pool.state.load(ordering: .relaxed) == PoolState(rawValue: 0) })
    }
    #expect(pool.workerCount.load(ordering: .relaxed) <= 2, "records are used again")
    pool.idleLock.withLock {
      #expect(pool.idleStack.count == 0)
      #expect(pool.freeWorkers.count == pool.workerCount.load(ordering: .relaxed))
    }
  }

  @Test(arguments: [(1, 1), (2, 4)])
  func `replaces workers whose threads end inside items`(shape: (width: Int, threads: Int)) {
    let pool = Pool.own(width: shape.width, threads: shape.threads)
    let done = Latch(20)
    for number in 0..<40 {
      let band = Band.allCases[number % Band.allCases.count]
      pool.submit(number % 4 < 2 ? .items : .lanes, band: band) {
        if number % 2 == 0 { pthread_exit(nil) }
        done.open()
      }
    }
    #expect(done.wait())
    #expect(pool.faultsAtRest() == [])
    // At that limit, a lane that waits for long gets a thread of the reserve.
    let most = shape.threads + pool.configuration.maxReserve
    #expect(pool.workerCount.load(ordering: .relaxed) <= most, "records are used again")
  }

  @Test func `finds what a worker whose thread ends leaves in its local queue`() {
    let pool = Pool.own(width: 1, threads: 1)
    let done = Latch(10)
    pool.submit {
      for _ in 0..<10 { pool.submit { done.open() } }
      pthread_exit(nil)
    }
    #expect(done.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `creates no threads before it has work`() {
    let pool = Pool.own(width: 3, threads: 3)
    #expect(pool.state.load(ordering: .relaxed).threads == 0)
    #expect(pool.workerCount.load(ordering: .relaxed) == 0)
    #expect(!pool.hasWork())
  }

  @Test(arguments: 1...3)
  func `runs no more items at a time than its width`(width: Int) {
    // No monitor: it could find a computing item asleep while the kernel works for the item.
    let pool = Pool.own(width: width, threads: width + 4, isWatched: false)
    let running = Number()
    let done = Latch(300)
    for _ in 0..<300 {
      pool.submit {
        running.add()
        for _ in 0..<2000 { spinHint() }
        running.add(-1)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(running.peak <= width)
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: [false, true])
  func `starts another worker while an item waits`(announced: Bool) {
    let pool = Pool.own(width: 1, threads: 4)
    let second = Latch()
    let first = Latch()
    pool.submit {
      let isOpen =
        announced ? Blocking.announced(currentThread()) { second.wait() } : second.wait()
      #expect(isOpen)
      first.open()
    }
    pool.submit { second.open() }
    #expect(first.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: WorkKind.allCases)
  func `starts higher bands first when it is full`(kind: WorkKind) {
    // A look of the monitor between two submissions could send a thread of the reserve for the
    // first lane.
    let pool = Pool.own(width: 1, threads: 1, isWatched: false)
    let order = Log<Band>()
    let bands = Band.allCases.filter { $0 != .unspecified }
    // The item that submits is the one that fills the pool.
    pool.submit(band: .userInteractive) {
      for band in bands {
        for _ in 0..<3 { pool.submit(kind, band: band) { order.append(band) } }
      }
    }
    #expect(order.waitForCount(3 * bands.count))
    #expect(order.all == order.all.sorted(by: >))
  }

  @Test func `runs work of a higher band before what an item submitted in its own`() {
    let pool = Pool.own(width: 1, threads: 1)
    let order = Log<String>()
    pool.submit(band: .utility) {
      for _ in 0..<5 { pool.submit(band: .utility) { order.append("utility") } }
      pool.submit(band: .userInitiated) { order.append("urgent") }
      pool.submit(band: .background) { order.append("background") }
    }
    #expect(order.waitForCount(7))
    #expect(order.all == ["urgent"] + Array(repeating: "utility", count: 5) + ["background"])
  }

  @Test func `gives what a busy worker has submitted to another`() {
    let pool = Pool.own(width: 2, threads: 2)
    let stolen = Number()
    let done = Latch(101)
    pool.submit {
      let parent = gc_thread_id()
      for _ in 0..<100 {
        pool.submit {
          if gc_thread_id() != parent { stolen.add() }
          done.open()
        }
      }
      // This worker is busy until another has taken a node from its local queue.
      let deadline = monotonicSeconds() + Double(deadlineSeconds)
      spin { stolen.now > 0 || monotonicSeconds() > deadline }
      done.open()
    }
    #expect(done.wait())
    #expect(stolen.now > 0)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `loses nothing between many producers, kinds and bands`() {
    let producers = 4
    let each = stressed(3000)
    let pool = Pool.own(width: 3, threads: 8)
    let tally = Tally(producers * each * 2)
    let ran = Number()
    let bands = Band.allCases
    let ended = onThreads(producers) { producer in
      for number in 0..<each {
        let index = (producer * each + number) * 2
        let kind = WorkKind.allCases[number / 7 % 2]
        pool.submit(kind, band: bands[number % bands.count]) {
          tally.add(index)
          ran.add()
          pool.submit(kind.other, band: bands[number / 5 % bands.count]) {
            tally.add(index + 1)
            ran.add()
          }
        }
      }
    }
    #expect(ended)
    #expect(eventually { ran.now == tally.size }, "\(ran.now) of \(tally.size)")
    #expect(tally.exceptions.isEmpty, "not once: \(tally.exceptions.prefix(5))")
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: [(1, 3), (2, 6), (3, 12)])
  func `keeps its counts while items sleep and continue`(
    shape: (width: Int, threads: Int)
  ) {
    let pool = Pool.own(width: shape.width, threads: shape.threads)
    let count = stressed(4000)
    let ran = Number()
    let ended = onThreads(2) { _ in
      for number in 0..<count {
        pool.submit(WorkKind.allCases[number % 2], band: Band.allCases[number % 3]) {
          if number % 3 == 0 {
            Blocking.announced(currentThread()) {
              for _ in 0..<(number % 50) { spinHint() }
            }
          }
          ran.add()
        }
        while number - ran.now / 2 > 64 { spinHint() }
      }
    }
    #expect(ended)
    #expect(eventually { ran.now == 2 * count }, "\(ran.now) of \(2 * count)")
    #expect(pool.faultsAtRest() == [])
  }

  // A worker returns while the maximum number of workers is active. It then steps back, or finds
  // that it need not; meanwhile it must not be counted as idle.
  @Test(arguments: [(1, 4), (2, 6)])
  func `keeps its counts while workers leave`(shape: (width: Int, threads: Int)) {
    // Workers do not time out: a wrongly counted idle worker would stop the process when it leaves.
    let pool = Pool.own(
      width: shape.width, threads: shape.threads, keepAliveNanoseconds: 3_600_000_000_000)
    for round in 0..<stressed(3000) {
      let ran = Latch(12)
      for number in 0..<12 {
        pool.submit {
          if number % 4 != 3 {
            Blocking.announced(currentThread()) { sleepMicroseconds((number + round) % 7 * 10) }
          }
          ran.open()
        }
      }
      guard ran.wait() else {
        Issue.record("round \(round): work is left without a worker")
        break
      }
    }
    #expect(pool.faultsAtRest() == [])
  }
}

private func sleepMicroseconds(_ microseconds: Int) {
  usleep(UInt32(microseconds))
}
