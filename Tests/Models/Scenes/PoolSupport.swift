// Room: Models/PoolSupport. A small pool of its own for each execution, and work for it.

/// An item that says that it ran. It runs in the pool's own way, but its node is not given back: a
/// node's memory is the models' of NodeCache.
final class Job {
  private let runs = Plain()
  private let body: () -> Void

  init(_ body: @escaping () -> Void = {}) { self.body = body }

  func run() {
    runs.value += 1
    body()
  }

  /// Its node, from the calling thread's cache and written by it.
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

/// What may go wrong in a model besides its schedule, for each of its threads.
enum Allow {
  static func timeOuts(_ count: Int) -> (inout Options) -> Void { { $0.timeOuts = count } }
  static func refusals(_ count: Int) -> (inout Options) -> Void { { $0.refusals = count } }
}

extension InjectorKey {
  static var items: InjectorKey { InjectorKey(kind: .items, band: .default) }
  static var lanes: InjectorKey { InjectorKey(kind: .lanes, band: .default) }
}

extension Pool {
  /// Has one source of work, and a monitor that is asleep and has no thread: watch() leaves a mark
  /// on it.
  static func small(
    width: Int = 1, threads: Int = 1, sources: [InjectorKey] = [.items], monitorMode: UInt32 = 2,
    refusesAll: Bool = false
  ) -> Pool {
    // An execution that failed has left its own.
    ThreadlessRetry.keepers.change { $0.removeAll() }
    var configuration = Configuration(
      width: width, readWidth: nil, softThreads: threads, maxThreads: threads)
    configuration.readBlockedSignals = { nil }
    configuration.sources = sources.reduce(0) { $0 | $1.bit }
    configuration.spawn = { body, argument, stackBytes in
      if refusesAll { return EAGAIN }
      // The monitor's thread, which never ends, is not made: it stays at "starting".
      guard stackBytes == 0 else {
        if Checker.mayRefuse() { return EAGAIN }
        Unmanaged<Pool>.fromOpaque(argument).release()
        return 0
      }
      return startThread(body, argument, stackBytes: stackBytes)
    }
    let pool = Pool(configuration, monitor: Monitor(mode: monitorMode))
    pool.reportedRefusal.store(true, ordering: .relaxed)
    return pool
  }

  /// Workers without threads, counted as active, the first `searching` of them as searchers.
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

  /// Makes the calling thread be that worker.
  func begin(_ worker: Worker) -> ThreadContext {
    worker.thread = currentThread()
    currentThread().pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
    return currentThread()
  }

  /// Makes a worker, which finds nothing to do.
  func makeIdleWorker() { wakeIfNeeded() }

  func submit(_ job: Job) { submit(job.node(), .items, band: .default, from: currentThread()) }

  /// Puts a job where a submitter does, and wakes nobody.
  func publish(_ job: Job) {
    withInjector(.items) { $0.push(job.node()) }
    markWaiting(.items)
  }

  /// Fails unless the jobs ran, or somebody will look for them: a monitor that is being made or is
  /// there, or whoever keeps the vigil. Ends that.
  func expectLookedAfter(_ jobs: [Job]) {
    let isLookedAfter = endRetries() || monitor.mode.load(ordering: .relaxed) != 0
    // The last idle worker stays where there is no monitor.
    monitor.mode.store(2, ordering: .relaxed)
    if hasWork() {
      Checker.expect(isLookedAfter, "work waits, and nobody will look for it")
    } else {
      for job in jobs { job.expectDone() }
      expectAtRest()
    }
  }

  /// Whether a vigil was kept. It would keep the pool.
  func endRetries() -> Bool {
    defer { ThreadlessRetry.end(self) }
    return ThreadlessRetry.isKept
  }

  /// Fails unless somebody searches for the work that waits: awake, or with a wake-up on its way.
  func expectSearcher() {
    let seen = state.load(ordering: .relaxed)
    // Asked of the rings too, in case that it is the look itself that is wrong.
    let indices = 0..<workerCount.load(ordering: .relaxed)
    let hasLocalWork = indices.contains { worker(at: $0)?.hasLocalWork ?? false }
    Checker.expect(
      !(hasWork() || hasLocalWork) || seen.searching > 0, "work waits, and nobody searches")
    Checker.expect(seen.idle == idleStack.count, "the stack and the count differ")
    for number in 0..<ModelThreads.count { ModelThreads.context(number).pointee.worker = nil }
  }

  /// Fails unless its books are those of a pool at rest.
  func expectAtRest() {
    let seen = state.load(ordering: .relaxed)
    Checker.expect(!hasWork(), "work waits, and nobody comes for it")
    Checker.expect(seen.active == 0, "\(seen.active) workers are counted active at rest")
    Checker.expect(seen.searching == 0, "\(seen.searching) workers are counted searching at rest")
    Checker.expect(seen.idle == seen.threads, "\(seen.idle) of \(seen.threads) threads are idle")
    Checker.expect(idleStack.count == seen.idle, "\(idleStack.count) workers are on the stack")
    Checker.expect(bandUse.load(ordering: .relaxed) == 0, "a band is in use at rest")
  }
}
