// Pools whose threads a test refuses. Tests/FaultTests covers refusals by the kernel.
import CGrandCentralLinux
import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

/// Creates threads for a pool, or refuses them.
private final class Gate: Sendable {
  enum Rule: Int, Sendable { case allow, refuse, refuseMonitor }
  private let rule: Number
  private let refused = Number()

  init(_ rule: Rule) { self.rule = Number(rule.rawValue) }

  func set(_ next: Rule) { rule.add(next.rawValue - rule.now) }
  var refusals: Int { refused.now }

  /// Waits until `count` more threads have been refused.
  func refuses(_ count: Int) -> Bool {
    let before = refusals
    return eventually { refusals >= before + count }
  }

  /// A pool's function that creates threads. Only the monitor asks for a stack size.
  var spawn: Pool.Spawn {
    { body, argument, stackBytes in
      let rule = Rule(rawValue: self.rule.now) ?? .allow
      let isRefused = rule == .refuse || rule == .refuseMonitor && stackBytes != 0
      if isRefused {
        self.refused.add()
        return EAGAIN
      }
      return gc_thread_spawn(body, argument, stackBytes)
    }
  }
}

@Suite("A pool that is refused threads") struct ShortageTests {
  enum Waiter: CaseIterable, Sendable { case semaphore, group, sync, item, deadline }

  @Test(arguments: Waiter.allCases)
  func `gets one when any thread waits`(_ waiter: Waiter) {
    let gate = Gate(.refuse)
    let pool = Pool.own(width: 2, threads: 4, spawn: gate.spawn)
    let runtime = Runtime(pool: pool)
    let queue = DispatchQueue(label: "test.shortage", target: runtime.root(.default))
    let ran = Number()
    let semaphore = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    let item = DispatchWorkItem { ran.add() }
    for _ in 0..<99 { queue.async(group: group) { ran.add() } }
    queue.async(group: group, execute: item)
    queue.async { semaphore.signal() }
    // No other thread uses the engine, so the waiter makes the retries.
    let opener = TestThread("opener") {
      #expect(gate.refuses(3))
      #expect(ran.now == 0)
      gate.set(.allow)
    }
    let waiting = TestThread("waiting") {
      switch waiter {
      case .semaphore: semaphore.wait()
      case .group: group.wait()
      case .sync: queue.sync {}
      case .item: item.wait()
      case .deadline: #expect(group.wait(timeout: inPatience()) == .success)
      }
    }
    #expect(opener.join() && waiting.join())
    #expect(eventually { ran.now == 100 })
    if waiter != .semaphore { #expect(semaphore.wait(timeout: inPatience()) == .success) }
    #expect(pool.faultsAtRest() == [])
    withExtendedLifetime(runtime) {}
  }

  @Test func `gets one when an item waits for another`() {
    let gate = Gate(.allow)
    let pool = Pool.own(width: 1, threads: 4, spawn: gate.spawn)
    let semaphore = DispatchSemaphore(value: 0)
    let done = Latch()
    let hasBegun = Latch()
    let mayWait = Latch()
    pool.submit {
      hasBegun.open()
      _ = mayWait.wait()
      semaphore.wait()
      done.open()
    }
    #expect(hasBegun.wait())
    gate.set(.refuse)
    pool.submit { semaphore.signal() }
    mayWait.open()
    #expect(gate.refuses(3))
    gate.set(.allow)
    #expect(done.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `grows again by itself while items sleep unannounced`() {
    let gate = Gate(.allow)
    let pool = Pool.own(width: 1, threads: 6, spawn: gate.spawn)
    let meeting = Latch(4)
    let hasBegun = Latch()
    pool.submit {
      hasBegun.open()
      meeting.open()
      _ = meeting.wait()
    }
    #expect(hasBegun.wait())
    // Before more is submitted: a monitor could make all threads before the first refusal.
    pool.monitor.prepare(pool)
    #expect(eventually { pool.monitor.isThere })
    gate.set(.refuse)
    for _ in 0..<3 {
      pool.submit {
        meeting.open()
        _ = meeting.wait()
      }
    }
    #expect(gate.refuses(3))
    gate.set(.allow)
    #expect(meeting.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `keeps its last worker until it has a monitor`() {
    let gate = Gate(.refuseMonitor)
    let pool = Pool.own(width: 2, threads: 2, keepAliveNanoseconds: 1_000_000, spawn: gate.spawn)
    let bothRun = Latch(2)
    for _ in 0..<2 {
      pool.submit {
        bothRun.open()
        _ = bothRun.wait()
      }
    }
    #expect(bothRun.wait())
    #expect(gate.refuses(3), "tries for the monitor when it would leave")
    #expect(eventually { pool.state.load(ordering: .relaxed).threads == 1 })
    #expect(gate.refuses(2))
    let seen = pool.state.load(ordering: .relaxed)
    #expect(seen.threads == 1 && seen.idle == 1)
    gate.set(.allow)
    #expect(eventually { pool.state.load(ordering: .relaxed) == PoolState(rawValue: 0) })
    #expect(pool.monitor.isThere)
  }

  @Test func `receives events on its idle worker`() {
    let gate = Gate(.allow)
    let pool = Pool.own(width: 1, threads: 4, spawn: gate.spawn)
    let runtime = kept(Runtime(pool: pool))
    let hasRun = Latch()
    pool.submit { hasRun.open() }
    #expect(hasRun.wait())
    #expect(eventually { pool.state.load(ordering: .relaxed).idle == 1 && pool.monitor.isThere })
    // The worker sleeps already, and no thread submits from now on.
    gate.set(.refuse)
    let reactor = kept(Reactor(pool: pool))
    let queue = DispatchQueue(label: "test.shortage", target: runtime.root(.default))
    for delay in [0, 5, 50] as [UInt64] {
      let hasCome = Latch()
      let node = WorkNode.closure(
        { hasCome.open() }, qos: .unspecified, flags: [], on: currentThread())
      let target = Clock.monotonicNanoseconds() + delay * 1_000_000
      reactor.monotonic.submit(node, to: queue, at: target, leeway: 0)
      #expect(hasCome.wait(), "after \(delay) ms")
    }
    #expect(gate.refusals > 0)
    // Another attempt to make the poller's thread may be under way.
    #expect(eventually { reactor.poller.state.load(ordering: .relaxed) == .empty })
    gate.set(.allow)
    // Two sleepers that retry at the same time make both threads.
    #expect(eventually { reactor.poller.state.load(ordering: .relaxed).threads > 0 })
    #expect(pool.faultsAtRest() == [])
  }

  /// A delivery may release the last reference to an object of the program, whose deinit may wait.
  @Test func `delivers events on a worker that is active, and may wait`() {
    let gate = Gate(.allow)
    let pool = Pool.own(width: 2, threads: 4, spawn: gate.spawn)
    let bothRun = Latch(2)
    for _ in 0..<2 {
      pool.submit {
        bothRun.open()
        _ = bothRun.wait()
      }
    }
    #expect(bothRun.wait())
    #expect(eventually { pool.state.load(ordering: .relaxed).idle == 2 && pool.monitor.isThere })
    gate.set(.refuse)
    let poller = kept(Poller(pool: pool))
    #expect(poller.prepare() >= 0)
    let events = EventFD.make()
    defer { close(events) }
    let receiver = Receiver { thread in
      let worker = thread.pointee.worker.map {
        Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue()
      }
      let isOnIdleStack = pool.idleLock.withLock { worker?.isOnIdleStack }
      let hasRun = Latch()
      // Another worker runs it, while this one is parked in its wait.
      pool.submit(.lanes) { hasRun.open() }
      return isOnIdleStack == false && hasRun.wait()
    }
    guard case .success(let registration) = poller.register(receiver, for: events, .readable, .edge)
    else {
      Issue.record("the descriptor is refused")
      return
    }
    EventFD.signal(events)
    #expect(receiver.isDone.wait())
    #expect(receiver.faults.now == 0)
    poller.unregister(registration)
    gate.set(.allow)
    // Two sleepers that retry at the same time make both threads.
    #expect(eventually { poller.state.load(ordering: .relaxed).threads > 0 })
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `gets one at the next submission`() {
    let gate = Gate(.refuse)
    let pool = Pool.own(width: 1, threads: 1, spawn: gate.spawn)
    let ran = Number()
    pool.submit { ran.add() }
    #expect(gate.refusals > 0)
    gate.set(.allow)
    var submitted = 1
    #expect(
      eventually {
        if ran.now > 0 { return true }
        pool.submit { ran.add() }
        submitted += 1
        return false
      })
    #expect(eventually { ran.now == submitted })
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `does not request a thread at each submission`() {
    let gate = Gate(.refuse)
    let pool = Pool.own(width: 1, threads: 1, spawn: gate.spawn)
    let count = 20_000
    let ran = Number()
    let begin = Clock.monotonicNanoseconds()
    for _ in 0..<count { pool.submit { ran.add() } }
    let milliseconds = Int((Clock.monotonicNanoseconds() - begin) / 1_000_000)
    // At most a worker and a monitor are requested in each millisecond.
    #expect(gate.refusals <= 2 * (milliseconds + 2))
    gate.set(.allow)
    let all = DispatchSemaphore(value: 0)
    pool.submit { all.signal() }
    #expect(all.wait(timeout: inPatience()) == .success)
    #expect(eventually { ran.now == count })
  }

  @Test func `loses nothing while they are refused at random`() {
    var generator = SeededGenerator(for: "shortage")
    let seed = generator.next()
    let draws = Number()
    let spawn: Pool.Spawn = { body, argument, stackBytes in
      var draw = SeededGenerator(seed: seed &+ UInt64(draws.add()))
      if draw.next() % 4 != 0 { return EAGAIN }
      return gc_thread_spawn(body, argument, stackBytes)
    }
    for round in 0..<stressed(20) {
      let pool = Pool.own(
        width: 2, threads: 6, keepAliveNanoseconds: 100_000, spawn: spawn)
      let tally = Tally(400)
      let group = DispatchGroup()
      let ended = onThreads(2) { producer in
        for number in 0..<200 {
          group.enter()
          pool.submit(WorkKind.allCases[number % 2], band: Band.allCases[number % 6]) {
            if number % 16 == 0 {
              Blocking.announced(currentThread()) { _ = usleep(200) }
            }
            tally.add(producer * 200 + number)
            group.leave()
          }
          if number % 50 == 49 { usleep(500) }
        }
      }
      #expect(ended)
      guard group.wait(timeout: inPatience()) == .success else {
        Issue.record("round \(round): work is left")
        return
      }
      #expect(tally.exceptions.isEmpty)
      #expect(pool.faultsAtRest() == [])
    }
  }
}

/// Receives one event, and counts a fault unless `body` returns true.
private final class Receiver: ReadinessReceiver, Sendable {
  let isDone = Latch()
  let faults = Number()
  private let body: @Sendable (ThreadContext) -> Bool

  init(_ body: @escaping @Sendable (ThreadContext) -> Bool) { self.body = body }

  func descriptorWasClosed() -> (any ResourceRetry)? { nil }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    if !body(thread) { faults.add() }
    isDone.open()
  }
}

private func inPatience() -> DispatchTime {
  let now = DispatchTime.now().uptimeNanoseconds
  return DispatchTime(uptimeNanoseconds: now + UInt64(deadlineSeconds) * 1_000_000_000)
}
