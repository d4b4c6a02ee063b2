// Room: CoreSimulator/Machine. A machine of up to 64 cores, simulated on one thread. Programs are
// real code on fibers; only their accesses to shared memory, their sleeps and their `compute` take
// time. A discrete simulation: the thread with the earliest time runs its next step, so the steps
// of all threads happen in the order of simulated time, and a run always ends the same way.
//   waiting for a core ─a core is free→ running ─sleep→ asleep ─wake, deadline→ waiting for a core
//   running ─slice used, others wait→ waiting for a core      running ─body returns→ finished
import CFibers

public final class Machine {
  // One machine at a time, on one thread of the host.
  nonisolated(unsafe) public static var current = Machine(cores: 1)

  public let cores: Int
  public let costs: Costs
  public var counts = Counts()
  private var lines = Lines()
  private var events = Events()
  private var threads: [SimulatedThread] = []
  private var freeCores: [Int]
  private var waiting: [SimulatedThread] = []
  private var sleepers: [UnsafeRawPointer: [SimulatedThread]] = [:]
  private var held: [UnsafeRawPointer: (site: Site, since: UInt64)] = [:]
  private var running: SimulatedThread?
  private let outside = UnsafeMutablePointer<gc_fiber>.allocate(capacity: 1)
  private var failure: String?

  /// What the program knows of the running thread, as it was given to `spawn`.
  nonisolated(unsafe) public static var tag: UnsafeMutableRawPointer?

  public init(cores: Int, costs: Costs = Costs()) {
    precondition((1...64).contains(cores), "The machine has 1 to 64 cores.")
    self.cores = cores
    self.costs = costs
    freeCores = (0..<cores).reversed()
    outside.initialize(to: gc_fiber())
  }

  // MARK: For the host

  /// Runs `body` as the first thread, until it returns. Other threads are abandoned where they are.
  /// Returns a message if nothing can happen any more before that.
  public func run(tag: UnsafeMutableRawPointer?, _ body: @escaping () -> Void) -> String? {
    Machine.current = self
    let hostTag = Machine.tag
    spawn(tag: tag, body)
    if let first = nextToRun() {
      resume(first)
      gc_fiber_switch(outside, first.fiber)
    }
    running = nil
    Machine.tag = hostTag
    return failure
  }

  // MARK: For the program

  /// The time of the running thread in nanoseconds.
  public var now: UInt64 { running?.now ?? 0 }

  /// The number of the running thread; 0 is the first.
  public var threadNumber: Int { running?.number ?? 0 }

  public func cpuNanoseconds(ofThread number: Int) -> UInt64? {
    threads.indices.contains(number) ? threads[number].cpuNanoseconds : nil
  }

  /// Spends time on the core.
  public func compute(nanoseconds: UInt64) {
    guard let thread = running else { return }
    reach(thread)
    spend(nanoseconds, thread)
  }

  /// Makes a thread. Returns its number. `isFree`: its maker spends no time, and it begins at once.
  @discardableResult
  public func spawn(
    tag: UnsafeMutableRawPointer?, isFree: Bool = false, _ body: @escaping () -> Void
  ) -> Int {
    let thread = SimulatedThread(number: threads.count, tag: tag, body)
    guard let stack = gc_fiber_stack(SimulatedThread.stackBytes) else {
      fatalError("CoreSimulator: no memory for the stack of a fiber.")
    }
    gc_fiber_prepare(
      thread.fiber, stack, SimulatedThread.stackBytes, { _ in Machine.current.live() }, nil)
    threads.append(thread)
    if let maker = running, !isFree {
      reach(maker)
      spend(costs.spawn, maker)
    }
    events.add(thread, at: now + (isFree ? 0 : costs.latency), .arrival)
    return thread.number
  }

  /// An access to shared memory. Returns when it is the access's turn; the access itself follows.
  public func access(_ address: UnsafeRawPointer, _ kind: AccessKind, _ site: Site) {
    guard let thread = running, let core = thread.core else { return }
    reach(thread)
    let access: Lines.Access = kind == .load ? .load : kind == .store ? .store : .update
    let bill = lines.access(address, access, by: core, at: thread.now, costs)
    spend(bill.nanoseconds, thread)
    counts.note(site) { count in
      switch kind {
      case .load: count.loads += 1
      case .store: count.stores += 1
      case .update: count.updates += 1
      }
      if bill.isTransfer { count.transfers += 1 }
      count.queued += bill.queued
    }
  }

  /// Sleeps on `address` while `isStill`. Returns false if the deadline ended the sleep.
  public func sleep(
    on address: UnsafeRawPointer, until deadline: UInt64?, while isStill: () -> Bool
  ) -> Bool {
    guard let thread = running else { return true }
    reach(thread)
    spend(costs.call, thread)
    reach(thread)
    guard isStill() else { return true }
    thread.sleeps += 1
    thread.hasTimedOut = false
    thread.sleepsOn = address
    sleepers[address, default: []].append(thread)
    if let deadline {
      events.add(thread, at: max(deadline, thread.now), .timeout(sleep: thread.sleeps))
    }
    thread.state = .asleep
    leaveCore(thread)
    switchAway(from: thread)
    return !thread.hasTimedOut
  }

  /// Wakes up to `count` threads that sleep on `address`, the longest asleep first.
  public func wake(_ address: UnsafeRawPointer, count: Int) {
    guard let thread = running else { return }
    reach(thread)
    var isFirst = true
    for _ in 0..<count {
      guard let sleeper = sleepers[address]?.first else { break }
      removeSleeper(sleeper)
      counts.wakes += 1
      spend(isFirst ? costs.wake : costs.wake / 2, thread)
      isFirst = false
      sleeper.state = .waitingForCore
      events.add(sleeper, at: thread.now + costs.latency, .arrival)
    }
    if isFirst { spend(costs.call, thread) }
  }

  /// Notes that the running thread has taken the lock at `address`.
  public func noteTaken(_ address: UnsafeRawPointer, _ site: Site) { held[address] = (site, now) }

  /// Notes that the running thread releases the lock at `address`.
  public func noteReleased(_ address: UnsafeRawPointer) {
    guard let (site, since) = held.removeValue(forKey: address) else { return }
    counts.held(site, nanoseconds: now - since)
  }

  // MARK: Time

  private func spend(_ nanoseconds: UInt64, _ thread: SimulatedThread) {
    thread.now += nanoseconds
    thread.cpuNanoseconds += nanoseconds
  }

  /// Returns when no other thread has an earlier time.
  private func reach(_ thread: SimulatedThread) {
    if !waiting.isEmpty && thread.now - thread.sliceBegan > costs.slice {
      thread.state = .waitingForCore
      leaveCore(thread)
      events.add(thread, at: thread.now, .arrival)
      switchAway(from: thread)
    }
    guard events.nextTime < thread.now else { return }
    events.add(thread, at: thread.now, .step)
    switchAway(from: thread)
  }

  private func switchAway(from thread: SimulatedThread) {
    guard let next = nextToRun() else {
      failure = "Nothing can happen any more, and the first thread has not ended."
      return gc_fiber_switch(thread.fiber, outside)
    }
    if next === thread { return }
    resume(next)
    gc_fiber_switch(thread.fiber, next.fiber)
  }

  private func resume(_ thread: SimulatedThread) {
    running = thread
    Machine.tag = thread.tag
  }

  /// Handles events up to the next step of a thread.
  private func nextToRun() -> SimulatedThread? {
    while let event = events.removeFirst() {
      let thread = event.thread
      switch event.kind {
      case .step: return thread
      case .arrival: giveCore(thread, at: event.time)
      case .timeout(let sleep):
        guard thread.state == .asleep, thread.sleeps == sleep else { continue }
        removeSleeper(thread)
        thread.hasTimedOut = true
        thread.state = .waitingForCore
        giveCore(thread, at: event.time + costs.latency)
      }
    }
    return nil
  }

  private func removeSleeper(_ thread: SimulatedThread) {
    guard let address = thread.sleepsOn else { return }
    thread.sleepsOn = nil
    sleepers[address]?.removeAll { $0 === thread }
    if sleepers[address]?.isEmpty ?? false { sleepers[address] = nil }
  }

  // MARK: Cores

  /// Gives the thread a free core, its last one if possible; else it waits for one.
  private func giveCore(_ thread: SimulatedThread, at time: UInt64) {
    let place = freeCores.firstIndex { $0 == thread.core } ?? freeCores.indices.last
    guard let place else { return waiting.append(thread) }
    start(thread, on: freeCores.remove(at: place), at: time)
  }

  private func start(_ thread: SimulatedThread, on core: Int, at time: UInt64) {
    thread.core = core
    thread.state = .running
    thread.now = max(thread.now, time) + costs.change
    thread.sliceBegan = thread.now
    events.add(thread, at: thread.now, .step)
  }

  private func leaveCore(_ thread: SimulatedThread) {
    guard let core = thread.core else { return }
    if waiting.isEmpty { return freeCores.append(core) }
    start(waiting.removeFirst(), on: core, at: thread.now)
  }

  /// The life of a fiber. Never returns, as a fiber must not.
  private func live() {
    guard let thread = running else { return }
    thread.body()
    thread.state = .finished
    if thread.number == 0 { gc_fiber_switch(thread.fiber, outside) }
    leaveCore(thread)
    switchAway(from: thread)
  }
}

public enum AccessKind: Sendable { case load, store, update }
