// Room: Pool/Pool+Park. A worker's life: how it runs nodes, parks, steps back and ends.
// Sleep/wake protocol, all accesses sequentially consistent:
//   a submitter   publishes the node (tail of a local queue, or inbox and its bit in
//                 `injectorHints`), then reads the state word
//   a worker      leaves `searching` or the active count in the state word, then reads the bits,
//                 the inboxes whose bits are set, and every local queue (hasWork)
// In the single order of these accesses, one of two things holds.
//   - The submitter's read follows the worker's exchange. If another worker searches, the last
//     searcher's scan covers the node. Otherwise the submitter wakes a worker, or the monitor if
//     the pool is saturated.
//   - The worker's read follows the publication. A worker that parks unparks itself; one that stops
//     searching or leaves the active count otherwise calls wakeIfNeeded().
// A submitter that finds the bit set leaves it. So a thread that clears a bit then looks at the
// injector, and if a node is there it sets the bit and wakes a worker, as the submitter would.
// Two exits need no scan of their own. retireLowered() puts a node back and calls Monitor.watch():
// the monitor scans. Monitor.mark() runs on the monitor, which is awake and scans before it rests.
// A weaker order loses wake-ups: on each side the store and the load are to different words, and
// the hardware may swap them.
// The worker can still miss work that moves during its scan, out of a queue that it has not yet
// read into one that it has read. Searchers move more than they take, and the last searcher that
// stops scans again (stopSearching). Other threads wake a worker afterwards, as submitters do:
// those that move nodes to an injector (moveHigherNodes, moveOldestLane), and a worker in a lowered
// class that takes several from one (InjectorTurn). Either the scanning worker had left
// `searching` by then, and the last searcher's scan wakes a worker; or its own exchange comes later
// in the state word, and it sees everything that was moved before.
// After rayon's and tokio's sleep protocols.
import CGrandCentralLinux

extension Pool {
  func runWorker(_ worker: Worker) {
    let thread = currentThread()
    takeFirstSteps(of: thread) {
      nameThread(worker.plainName)
      worker.name.began(at: Clock.coarseNanoseconds())
      if configuration.hasEffects {
        ThreadEffects.adopt(thread, isReplaceable: true, watcher: self)
      }
      worker.thread = thread
      worker.threadID.store(thread.pointee.tid, ordering: .relaxed)
      thread.pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
      worker.isSearching = true
      worker.promptTurns = PromptTurns()
      BlackBox.noteWorker(thread)
    }
    var isIdle = false
    repeat {
      isIdle = worker.isInReserve ? serveLanes(worker, thread) : runUntilIdle(worker, thread)
    } while isIdle && grandCentralWorkerIdle(worker, thread)
    thread.pointee.worker = nil
    ThreadEffects.leave(thread)
    // The pool of the process needs fewer threads, so probably fewer nodes. Its own ones first.
    if isIdle && configuration.hasEffects {
      NodeCache.drain(thread)
      NodeCache.depot.trim()
    }
  }

  /// Runs nodes until there are none. Returns false if the thread must end.
  func runUntilIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.status.store(.running, ordering: .releasing)
    return runNodes(worker, thread)
  }

  /// The same for a worker that is counted already.
  func runNodes(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    while true {
      while let node = takeHanded(by: worker) ?? takeNext(for: worker) {
        stopSearching(worker)
        guard run(node, worker, thread) else { return false }
      }
      // A worker beyond the allowance may have found no work for it without a search.
      let mayPark = worker.isSearching && beyondAllowance <= 0
      if mayPark ? park(worker, thread) : stepBack(worker, thread) { return true }
    }
  }

  /// Runs a node in its class. Returns false if the thread must end.
  @inline(__always)
  func run(_ node: WorkNode, _ worker: Worker, _ thread: ThreadContext) -> Bool {
    let isReady = ThreadEffects.isInEffect(worker.band, on: thread)
    switch isReady ? .run : prepare(for: node, worker, thread) {
    case .run: grandCentralWorkerActive(node, worker, thread)
    case .leave: break
    case .end: return false
    }
    if worker.status.load(ordering: .relaxed) != .running { comeBack(worker) }
    return true
  }

  func takeHanded(by worker: Worker) -> WorkNode? {
    guard let (node, band) = worker.takeHanded() else { return nil }
    // More urgent work has come since: a thread that waits for a queue raises it by a second node.
    // It goes first, or another worker would have to wake up for it.
    // A worker that was sent beyond the allowance, for that node, runs it.
    if hints.waiting.highestBand > band, worker.starvedTurn == nil, beyondAllowance <= 0 {
      let localQueue = worker.localQueue(node.kind)
      if localQueue.accepts(band) {
        localQueue.put(node, band: band)
        return nil
      }
    }
    enter(band, worker)
    // At once: a thread that looks for a worker of that kind and band must not send another.
    worker.note(node.kind)
    return node
  }

  /// Runs one node. Not inlined: this frame in a backtrace shows that the worker is active.
  @inline(never)
  func grandCentralWorkerActive(
    _ node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) {
    let traits = node.traits
    gc_gave_way(thread)
    thread.pointee.qos = traits.qos.rawValue
    EffectivePriority.apply(worker.band, on: thread)
    worker.note(node.kind)
    // For an item of a global queue, a label that the thread still carries is another queue's.
    if traits.isDisjoint(with: [.lane, .carried]) && worker.mayHaveLabel { worker.showPlainName() }
    if traits.isDisjoint(with: [.lane, .carried]) { BlackBox.noteNoQueue(on: thread) }
    let roots = traits.contains(.overcommit) ? Self.overcommitRoots : 0
    let root = rootOfBand[roots + Int(worker.band.rawValue)]
    let outer = thread.enterFrame(of: root)
    node.runItem(of: root, on: thread)
    thread.leaveFrame(to: outer)
  }

  /// Sleeps until woken. Not inlined: this frame in a backtrace shows that the worker is idle.
  /// Returns false if no work came within the keep-alive time; the thread then ends.
  @inline(never)
  private func grandCentralWorkerIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    var begin = Clock.monotonicNanoseconds()
    refreshWidth(at: begin, maskNanoseconds: Self.idleMaskNanoseconds)
    if !thread.pointee.is_main { monitor.prepare(self) }
    BlackBox.noteIdle(thread)
    while !Parker.sleep(thread, until: .monotonic(nanoseconds: begin + longestSleep(of: worker))) {
      if worker.name.isKept {
        worker.showPlainName()
        continue
      }
      if !thread.pointee.is_main { monitor.prepare(self) }
      switch retire(worker, thread) {
      // From here on another thread may own the record.
      case .done: return false
      case .needed:
        begin = Clock.monotonicNanoseconds()
        continue
      // A submitter chose the worker between the timeout and the lock: the grant is on its way.
      case .chosen: _ = Parker.sleep(thread)
      }
      break
    }
    worker.slept(
      nanoseconds: Clock.monotonicNanoseconds() - begin, until: Clock.coarseNanoseconds())
    worker.isSearching = true
    if configuration.hasEffects { thread.shared.mayRiseLater = false }
    BlackBox.noteAwake(thread)
    return true
  }

  /// How long an idle worker sleeps before it must do something.
  private func longestSleep(of worker: Worker) -> UInt64 {
    let keepAlive = configuration.keepAliveNanoseconds
    return worker.name.isKept ? min(WorkerName.stayNanoseconds, keepAlive) : keepAlive
  }

  /// Puts a searcher that found nothing on the idle stack. Returns false if work came meanwhile.
  func park(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.isSearching = false
    _ = goIdle(worker, thread) { $0.parked() }
    // The worker's half of the pair at the top of this file.
    guard hasWork() else { return true }
    let isBack = idleLock.withLock {
      guard worker.isOnIdleStack else { return false }
      removeFromIdleStack(worker)
      change { $0.unparked() }
      return true
    }
    // Otherwise a submitter has chosen this worker, and its grant ends the sleep at once.
    guard isBack else { return true }
    worker.isSearching = true
    worker.status.store(.running, ordering: .releasing)
    return false
  }

  /// Whether any injector or local queue holds work. Sequentially consistent: the worker's half of
  /// the pair at the top of this file.
  func hasWork() -> Bool {
    let hints = InjectorHints(injectorHints.load(ordering: .sequentiallyConsistent))
    var waiting = hints.waiting.intersection(configuration.injectors).rawValue
    while waiting != 0 {
      let index = waiting.trailingZeroBitCount
      waiting &= waiting &- 1
      if !withInjector(at: index, { $0.isEmpty }) { return true }
    }
    for index in 0..<workerCount.load(ordering: .sequentiallyConsistent) {
      // SAFETY: the words below workerCount are initialized, and live as long as the pool.
      if !localQueueWords.words(index, .items).pointee.isEmpty
        || !localQueueWords.words(index, .lanes).pointee.isEmpty
      {
        return true
      }
    }
    return false
  }

  /// Puts a worker on the idle stack if more workers are active than allowed; false if not.
  func stepBack(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    let (allowed, isSearching) = (allowance, worker.isSearching)
    guard beyondAllowance > 0,
      goIdle(
        worker, thread, { $0.steppedBack(allowance: allowed, isSearching: isSearching) })
    else { return false }
    worker.isSearching = false
    // The other active workers suffice, but they may be parking at this moment: as in park(). If it
    // searched, this is also the last searcher's scan, on behalf of all submitters that saw it.
    moveHigherNodes(of: worker)
    if hasWork() { wakeIfNeeded() }
    return true
  }

  /// Counts the worker as idle and pushes it on the idle stack, in one critical section. Every
  /// worker on the stack is counted idle, so a waker that sees an idle count finds a worker on the
  /// stack. Returns false, and changes nothing, if the transition no longer applies.
  private func goIdle(
    _ worker: Worker, _ thread: ThreadContext, _ transition: (PoolState) -> PoolState?
  ) -> Bool {
    let wasLow = worker.wasLow || ThreadEffects.isLow(thread)
    worker.wasLow = false
    worker.starvedTurn = nil
    // Before another thread can wake it.
    ThreadEffects.rest(thread)
    if configuration.hasEffects, worker.endsTurn(at: Clock.coarseNanoseconds()) {
      ThreadEffects.setPrompt(worker.promptTurns.isPrompt, on: thread)
    }
    setAway(worker)
    let isIdle = idleLock.withLock {
      guard changeIfApplicable(transition) else { return false }
      Parker.prepare(thread)
      // The kernel may still charge it for CPU time used in a low class, so it is woken last.
      if wasLow { idleStack.insertLast(worker) } else { idleStack.push(worker) }
      worker.isOnIdleStack = true
      return true
    }
    if isIdle {
      enter(.unspecified, worker)
      worker.restName()
    } else {
      worker.status.store(.running, ordering: .releasing)
    }
    return isIdle
  }

  /// Sets the status of a worker that leaves the active count next, and counts it until then.
  func setAway(_ worker: Worker) {
    // The monitor may have just marked the worker. Here the count may follow the exchange: nothing
    // marks a worker that is away.
    // Or its thread ends inside a wait that it has announced: threadEnds().
    // acquiring: acquires the count of unmark(), from which the worker subtracts itself next.
    if worker.status.exchange(.away, ordering: .acquiring) != .running {
      change { $0.unblocked() }
    }
  }

  /// Applies a transition that may not apply, as change() does. Returns whether it applied.
  func changeIfApplicable(_ transition: (PoolState) -> PoolState?) -> Bool {
    // sequentiallyConsistent: as in change().
    state.transition(.sequentiallyConsistent, to: transition)
  }

  private func removeFromIdleStack(_ worker: Worker) {
    worker.isOnIdleStack = false
    idleStack.remove(worker)
  }

  private enum Retirement {
    case done
    /// A submitter took the worker off the stack first.
    case chosen
    /// The last idle worker stays while there is no monitor, or no poller: see
    /// Pool+Shortage.swift.
    case needed
  }

  /// A worker that is the main thread, in a forked child, makes no monitor and always ends: if it
  /// is the child's last thread, so does the child.
  private func retire(_ worker: Worker, _ thread: ThreadContext) -> Retirement {
    idleLock.withLock {
      if worker.isInReserve { return retireFromReserve(worker) ? .done : .chosen }
      guard worker.isOnIdleStack else { return .chosen }
      let needsMonitor = !monitor.isThere && !thread.pointee.is_main
      if idleStack.count == 1 && (needsMonitor || ThreadlessRetry.hasRetriers) { return .needed }
      removeFromIdleStack(worker)
      change { $0.retired() }
      recordIsFree(worker)
      return .done
    }
  }
}

// MARK: A thread that ends inside an item

extension Pool {
  /// Counts out the worker of a thread that ends inside an item by pthread_exit(3), so that another
  /// thread replaces it. What the item holds stays held. Called by the thread at its end. Returns
  /// the worker; `nil`: the thread is not inside a worker's item. Not for pthread_cancel(3), which
  /// may end a thread inside a call of the engine, and leave the counts as they are there.
  static func threadEnds(_ thread: ThreadContext) -> Worker? {
    guard thread.isInside, let raw = thread.pointee.worker else { return nil }
    thread.pointee.worker = nil
    // SAFETY: the thread has never returned from runWorker() or runInline(), whose caller retains
    // the pool, and that retains its workers.
    let worker = Unmanaged<Worker>.fromOpaque(raw).takeUnretainedValue()
    worker.pool.threadEnds(thread, of: worker)
    return worker
  }

  private func threadEnds(_ thread: ThreadContext, of worker: Worker) {
    // The thread that replaces it inherits its settings, and could not set the timer slack back.
    ThreadEffects.rest(thread)
    ThreadEffects.leave(thread)
    enter(.unspecified, worker)
    thread.setCurrentQueueLabel(0)
    worker.showPlainName()
    worker.starvedTurn = nil
    setAway(worker)
    idleLock.withLock {
      change { $0.threadEnded() }
      worker.threadID.store(0, ordering: .relaxed)
      worker.thread = nil
      // An external worker's record waits for the poller's next thread.
      if !worker.isExternal { recordIsFree(worker) }
    }
    // The worker's half of the pair at the top of this file.
    moveHigherNodes(of: worker)
    if hasWork() { wakeIfNeeded() }
  }
}

// MARK: The idle stack

/// The parked workers, in the order in which they are woken. Guarded by the pool's idle lock. Its
/// memory is allocated once and counts no references, because each wake-up and each sleep of a
/// worker changes it: the growth, the check for shared storage and the references of an array cost
/// as much there as the search for work.
struct IdleStack {
  /// The first `count` slots are filled; the last one is woken next.
  private let slots: UnsafeMutablePointer<Unmanaged<Worker>>
  private let capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
  }

  func deallocate() { slots.deallocate() }

  /// Adds the worker that is woken next.
  mutating func push(_ worker: Worker) {
    invariant(count < capacity, "More workers are parked than the pool may have.")
    slots[count] = Unmanaged.passUnretained(worker)
    count += 1
  }

  /// Adds the worker that is woken last.
  mutating func insertLast(_ worker: Worker) {
    invariant(count < capacity, "More workers are parked than the pool may have.")
    (slots + 1).update(from: slots, count: count)
    slots[0] = Unmanaged.passUnretained(worker)
    count += 1
  }

  /// Removes and returns the worker to wake. The stack must not be empty.
  mutating func pop() -> Worker {
    invariant(count > 0, "A worker was chosen, and the idle stack is empty.")
    count -= 1
    // SAFETY: workers live as long as their pool.
    return slots[count]._withUnsafeGuaranteedRef { $0 }
  }

  mutating func remove(_ worker: Worker) {
    let its = Unmanaged.passUnretained(worker).toOpaque()
    // Most often it is the one that was pushed last.
    guard let place = (0..<count).last(where: { slots[$0].toOpaque() == its }) else { return }
    (slots + place).update(from: slots + place + 1, count: count - place - 1)
    count -= 1
  }

  mutating func removeAll() { count = 0 }

  /// The workers, the one that is woken next at the end. For tests.
  var workers: [Worker] { (0..<count).map { slots[$0].takeUnretainedValue() } }
}
