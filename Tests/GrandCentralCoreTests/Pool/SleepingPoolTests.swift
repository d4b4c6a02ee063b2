// Items that sleep: contract row T3.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A pool whose items sleep") struct SleepingPoolTests {
  /// No item continues before all have begun, and the pool creates four threads by itself.
  @Test(arguments: [false, true])
  func `grows beyond its soft limit when nothing else can run`(announced: Bool) {
    // No worker leaves before the threads are counted.
    let anHour: UInt64 = 3_600_000_000_000
    let pool = kept(
      Pool(
        Pool.Configuration(
          width: 2, readWidth: nil, softThreads: 4, maxThreads: 40, keepAliveNanoseconds: anHour)))
    let count = 22
    let all = Latch(count)
    let ended = Latch(count)
    for _ in 0..<count {
      pool.submit {
        all.open()
        let haveMet =
          announced ? Blocking.announced(currentThread()) { all.wait() } : all.wait()
        if haveMet { ended.open() }
      }
    }
    #expect(ended.wait())
    #expect(pool.state.load(ordering: .relaxed).threads >= count)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `counts an item once that waits inside a wait`() {
    let pool = Pool.own(width: 1, threads: 2)
    let active = Log<Int>()
    pool.submit {
      let thread = currentThread()
      func look() { active.append(pool.state.load(ordering: .relaxed).active) }
      look()
      Blocking.announced(thread) {
        Blocking.announced(thread) { look() }
        look()
      }
      look()
    }
    #expect(active.waitForCount(4))
    #expect(active.all == [1, 0, 0, 1])
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `counts an item once that was found asleep and then announces it`() throws {
    let pool = Pool.own(width: 1, threads: 1)
    let seen = Log<Worker.Status>()
    // The monitor may see the item awake before the item announces its wait; then the test repeats.
    for round in 1...100 where !seen.all.contains(.uncounted) {
      let wakeUp = Latch()
      let isUp = Latch()
      pool.submit {
        isUp.open()
        _ = wakeUp.wait()
        seen.append(pool.worker(at: 0)?.status.load(ordering: .relaxed) ?? .away)
        Blocking.announced(currentThread()) {}
      }
      #expect(isUp.wait())
      // The monitor looks only while work waits.
      let ranAfterwards = Latch()
      pool.submit { ranAfterwards.open() }
      let worker = try #require(pool.worker(at: 0))
      #expect(eventually { worker.status.load(ordering: .relaxed) == .uncounted })
      // The monitor sets the status first, and then changes the count.
      #expect(eventually { pool.state.load(ordering: .relaxed).active == 0 })
      wakeUp.open()
      #expect(ranAfterwards.wait(), "round \(round)")
      // A worker counted twice, or not taken off, would stay active for ever. The monitor adds the
      // worker first and checks then, so the count may be one too high for a moment.
      #expect(
        eventually { pool.state.load(ordering: .relaxed).active == 0 }, "round \(round)")
    }
    #expect(seen.all.contains(.uncounted))
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `reports once which queues hold the threads when there can be no more`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
    ) {
      let pool = Pool.own(width: 2, threads: 2)
      let areIn = Latch(2)
      let gate = Latch()
      for _ in 0..<2 {
        pool.submit {
          areIn.open()
          _ = gate.wait()
        }
      }
      let haveBegun = areIn.wait()
      for _ in 0..<2 { pool.reportHolders(.limit) }
      gate.open()
      exit(haveBegun ? 0 : 1)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("GRAND CENTRAL: 2 threads are held by items that do not end"))
    #expect(text.contains("  2 × a global queue\n"))
    #expect(text.split(separator: "held by items", omittingEmptySubsequences: false).count == 2)
  }
}

@Suite("A pool whose workers leave") struct LeavingPoolTests {
  /// Workers time out at about the time when the next item arrives, so that the two coincide.
  @Test func `loses nothing meanwhile`() {
    let pool = Pool.own(width: 1, threads: 2, keepAliveNanoseconds: 30_000)
    for round in 0..<stressed(4000) {
      let ran = Latch()
      pool.submit { ran.open() }
      guard ran.wait() else {
        Issue.record("round \(round): work is left without a worker")
        return
      }
      for _ in 0..<(round % 100 * 80) { spinHint() }
    }
    #expect(eventually { pool.state.load(ordering: .relaxed) == PoolState(rawValue: 0) })
    #expect(pool.faultsAtRest() == [])
  }
}

@Suite("A pool in a process without free resources") struct NeedyPoolTests {
  @Test func `keeps its work until a thread can be created`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let pool = Pool.own(width: 1, threads: 2)
      let ran = Latch()
      let waits = under(.noStacks) {
        pool.submit { ran.open() }
        // The monitor retries: for a moment at a time there seems to be a thread.
        return eventually {
          let isWithoutWorkers = pool.state.load(ordering: .relaxed) == PoolState(rawValue: 0)
          return isWithoutWorkers && pool.hasWork() && !ran.isOpen
            && pool.idleLock.withLock { pool.freeWorkers.count == 1 }
        }
      }
      guard waits else { exit(1) }
      exit(ran.wait() && pool.faultsAtRest() == [] ? 0 : 2)
    }
  }

  @Test func `works without descriptors, with less in its reports`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let isRight = under(.noDescriptors) {
        let ran = Latch(2)
        DispatchQueue.global().async { ran.open() }
        DispatchQueue(label: "needy").async { ran.open() }
        guard ran.wait() else { return false }
        let own = currentThread().pointee.tid
        Process.setThreadName(own, ThreadName("unheard"))
        return Process.mainThreadBlockedSignals() == nil && Process.threadState(own) == nil
          && Process.threadName(own) == "?" && CPULimits.machine.quota() == nil
          && CPULimits.machine.width() >= 1
      }
      let name = Process.threadName(currentThread().pointee.tid)
      exit(isRight && name != "unheard" ? 0 : 1)
    }
  }

  @Test func `has no descriptor for run loops, and reports why`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let main = MainQueue()
      let refused = under(.noDescriptors) {
        Result<Int32, SystemError> { () throws(SystemError) in try main.runLoopDescriptor() }
      }
      // The descriptor is available as soon as one can be opened.
      let descriptor = try main.runLoopDescriptor()
      exit(refused == .failure(SystemError(number: EMFILE)) && descriptor >= 0 ? 0 : 1)
    }
  }
}
