// Room: Models/PoolSupport. A small pool for each execution, and work for it.

/// An item that records its run. The pool runs it as any item, but nothing returns its node: the
/// models of NodeCache check that.
final class Job {
  private let runs = Plain()
  private let body: () -> Void

  init(_ body: @escaping () -> Void = {}) { self.body = body }

  func run() {
    runs.value += 1
    body()
  }

  /// Returns a node for the job, from the calling thread's cache and written by that thread.
  func node() -> WorkNode {
    let node = NodeCache.take(currentThread())
    node.context = Unmanaged.passUnretained(self).toOpaque()
    node.traits = []
    node.entry = { raw, _ in
      guard let context = WorkNode(raw).context else { Checker.fail("a node lost its job") }
      Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().run()
    }
    return node
  }

  func expectDone(_ name: String = "the job") {
    Checker.expect(runs.value == 1, "\(name) ran \(runs.value) times")
  }
  var isDone: Bool { runs.value > 0 }
}

/// What may fail in a model besides its schedule, for each of its threads.
enum Allow {
  static func timeOuts(_ count: Int) -> (inout Options) -> Void { { $0.timeOuts = count } }
  static func refusals(_ count: Int) -> (inout Options) -> Void { { $0.refusals = count } }
}

extension InjectorKey {
  static var items: InjectorKey { InjectorKey(kind: .items, band: .default) }
  static var lanes: InjectorKey { InjectorKey(kind: .lanes, band: .default) }
  static var lowItems: InjectorKey { InjectorKey(kind: .items, band: .background) }
}

extension Pool {
  /// Makes a pool. By default it has one injector, and its monitor is asleep without a thread, so
  /// watch() only changes the monitor's mode.
  static func small(
    width: Int = 1, threads: Int = 1, mask: Int? = nil, injectors: [InjectorKey] = [.items],
    monitorMode: MonitorMode = .asleep,
    refusesAll: Bool = false
  ) -> Pool {
    // A failed execution leaves its retriers registered.
    ThreadlessRetry.retriers.change { $0.removeAll() }
    var configuration = Configuration(
      width: width, readWidth: nil, softThreads: threads, maxThreads: threads)
    configuration.readProgramMask = { nil }
    if let mask { configuration.readMask = { mask } }
    configuration.injectors = InjectorSet(injectors.map(InjectorSet.init))
    configuration.spawn = { body, argument, stackBytes in
      if refusesAll { return EAGAIN }
      // The monitor's thread would never end, so none is made. The mode remains "starting".
      guard stackBytes == 0 else {
        if Checker.mayRefuse() { return EAGAIN }
        Unmanaged<Pool>.fromOpaque(argument).release()
        return 0
      }
      return startThread(body, argument, stackBytes: stackBytes)
    }
    let pool = Pool(configuration, monitor: Monitor(mode: monitorMode))
    // A mask beyond the width was followed by no thread yet; no quota stands in its way.
    pool.quotaWidth.store(.max, ordering: .relaxed)
    pool.reportedRefusal.store(true, ordering: .relaxed)
    return pool
  }

  /// Makes workers without threads. All count as active, and the first `searching` as searchers.
  func makeWorkers(_ count: Int, searching: Int) -> [Worker] {
    let workers = (0..<count).map { _ in makeWorker() }
    for (number, worker) in workers.enumerated() {
      worker.status.store(.running, ordering: .relaxed)
      worker.isSearching = number < searching
    }
    let (threads, active) = (UInt64(count) << 48, UInt64(count))
    state.store(
      PoolState(rawValue: threads | UInt64(searching) << 16 | active), ordering: .relaxed)
    return workers
  }

  /// Makes the calling thread the worker's thread.
  func begin(_ worker: Worker) -> ThreadContext {
    worker.thread = currentThread()
    currentThread().pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
    return currentThread()
  }

  /// Makes a worker, which finds no work.
  func makeIdleWorker() { wakeIfNeeded() }

  func submit(_ job: Job, band: Band = .default) {
    submit(job.node(), .items, band: band, from: currentThread())
  }

  /// Submits jobs as one list, the first one first.
  func submit(list jobs: [Job]) {
    let nodes = jobs.map { $0.node() }
    for (index, node) in nodes.enumerated() {
      node.next = index + 1 < nodes.count ? nodes[index + 1] : nil
    }
    submit(
      nodes[0], count: nodes.count, isBehindMany: false, .items, band: .default,
      from: currentThread())
  }

  /// Pushes a job as a submitter does, but wakes no worker.
  func publish(_ job: Job) {
    withInjector(.items) { $0.push(job.node()) }
    markWaiting(.items)
  }

  /// Fails unless the jobs ran, or a monitor or a threadless retry exists that will find them. Ends
  /// the retry. A monitor that is being made counts.
  func expectLookedAfter(_ jobs: [Job]) {
    let isLookedAfter = endRetries() || monitor.mode.load(ordering: .relaxed) != .absent
    // Without a monitor the last idle worker would stay for ever.
    monitor.mode.store(.asleep, ordering: .relaxed)
    if hasWork() {
      Checker.expect(isLookedAfter, "work waits, and no thread will look for it")
    } else {
      for job in jobs { job.expectDone() }
      expectAtRest()
    }
  }

  /// Ends the threadless retry, which would keep the pool alive. Returns whether there was one.
  func endRetries() -> Bool {
    defer { ThreadlessRetry.end(self) }
    return ThreadlessRetry.hasRetriers
  }

  /// Fails unless a worker searches for the waiting work, awake or with a wake-up on its way.
  func expectSearcher() {
    let seen = state.load(ordering: .relaxed)
    // Checks the queues directly too, in case hasWork() itself is wrong.
    let indices = 0..<workerCount.load(ordering: .relaxed)
    let hasLocalWork = indices.contains { worker(at: $0)?.hasLocalWork ?? false }
    let isWaiting = hasWork() || hasLocalWork || !withInjector(.items, { $0.isEmpty })
    Checker.expect(!isWaiting || seen.searching > 0, "work waits, and no thread searches")
    Checker.expect(seen.idle == idleStack.count, "the stack and the count differ")
    for number in 0..<ModelThreads.count { ModelThreads.context(number).pointee.worker = nil }
  }

  /// Fails unless the pool's counts are those of a pool at rest.
  func expectAtRest() {
    let seen = state.load(ordering: .relaxed)
    Checker.expect(!hasWork(), "work waits, and no thread will take it")
    Checker.expect(seen.active == 0, "\(seen.active) workers are counted active at rest")
    Checker.expect(seen.searching == 0, "\(seen.searching) workers are counted searching at rest")
    Checker.expect(seen.idle == seen.threads, "\(seen.idle) of \(seen.threads) threads are idle")
    Checker.expect(idleStack.count == seen.idle, "\(idleStack.count) workers are on the stack")
    Checker.expect(bandUse.load(ordering: .relaxed) == 0, "a band is in use at rest")
  }
}
