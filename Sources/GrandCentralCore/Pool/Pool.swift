// Room: Pool. Runs nodes on as many threads as there are CPUs to use, higher bands first.
// Life of a node: submit() → an idle worker directly, or the submitting worker's local queue, or
// the injector of its kind and band → a worker takes it → the worker runs it.
// Files: +Submit brings a node to a worker, +Park is a worker's life, +Take finds a node, +Classes
// counts workers per class, +Send passes a node to another worker, +Blocked replaces workers whose
// items sleep, Monitor finds workers that sleep unannounced, +LaneReserve keeps threads for lanes,
// +ExternalWorker runs nodes on the poller's threads, +Width reads how many CPUs to use, +Shortage
// retries after a refused thread, +Holders reports the queues whose items hold the threads, +Fork
// resets the pool in a forked child.
import CGrandCentralLinux

final class Pool: @unchecked Sendable {
  struct Configuration {
    /// CPUs to use at the start; re-read while the pool runs unless fixed.
    var width: Int
    /// Re-reads the width; `nil` if it is fixed.
    var readWidth: (@Sendable () -> Int)?
    /// Reads the number of CPUs in the affinity mask, an upper bound; `nil` if the width is fixed.
    var readMask: (@Sendable () -> Int?)?
    /// Reads whether a quota of CPU time is below the mask; `nil` if the width is fixed.
    var hasQuota: (@Sendable () -> Bool)?
    /// The thread limit where the monitor does not raise it.
    func firstThreads(width: Int) -> Int { min(maxThreads, 2 * width + 2) }
    /// Threads for items while other items make progress: see GrowthPolicy.
    var softThreads: Int
    /// The same limit while lanes wait.
    var softThreadsForLanes: Int { min(maxThreads, 4 * softThreads) }
    /// The maximum number of threads, without those that are kept for lanes.
    var maxThreads: Int
    /// The maximum number of records of workers.
    var maxWorkers: Int { maxThreads + maxReserve + Pool.maxExternalWorkers }
    /// How long an idle worker stays alive.
    var keepAliveNanoseconds: UInt64 = 5_000_000_000
    /// How many rounds a searching worker makes before it parks.
    var searchRounds = scaled(16, inModels: 1)
    /// Starts a detached thread with that stack size in bytes (0: the default) and returns 0 or an
    /// errno. A parameter, so that a test or a model can refuse a thread.
    var spawn: Spawn = { startThread($0, $1, stackBytes: $2) }
    /// Reads the main thread's blocked signals, which children of items get; `nil` if unknown.
    var readProgramMask: @Sendable () -> UInt64? = { Process.mainThreadBlockedSignals() }
    /// Whether classes change thread priorities: see ThreadPolicy/ThreadEffects.
    var hasEffects = false
    /// The further inboxes of each injector: one for four CPUs, none where few threads can meet. A
    /// single one would be where all threads meet again.
    var furtherInboxes: Int { width >= 8 ? min(16, width / 4) : 0 }
    /// The injectors that are in use. A model that uses one need not scan ten.
    var injectors = InjectorSet.all
  }

  typealias Spawn = @Sendable (ThreadBody, UnsafeMutableRawPointer, _ stackBytes: Int) -> Int32

  let configuration: Configuration
  let state = Atomic<PoolState>(PoolState(rawValue: 0))
  /// Active workers beyond the width. The monitor adds them for a while.
  let beyondWidth = Atomic<Int>(0)
  /// Further active workers for lanes only. The monitor sets it while lanes have waited for long.
  let lanesBeyond = Atomic<Int>(0)
  /// Whether a new lane wakes an idle worker at once, however many are active.
  let lanesOvercommit = Atomic<Bool>(false)
  /// How many workers beyond the allowance new lanes may wake or make at once: see RestingLanes.
  let restingLanes = Atomic<Int>(0)
  /// The workers that lanes from default up may have beyond the allowance since one of them waited:
  /// see LanesBehindOthers.
  let lanesBehindOthers = Atomic<Int>(0)
  /// Whether items may have workers beside the lanes: see ItemsBehindLanes.
  let itemsBehindLanes = Atomic<Bool>(false)
  let width: Atomic<Int>
  /// The maximum number of threads, where the monitor has raised it; 0: not now.
  let raisedThreads = Atomic<Int>(0)
  /// Indexed by `InjectorKey.index`.
  private let injectors: UnsafeMutablePointer<Unmanaged<Injector>>
  /// The word of InjectorHints. An injector whose bit of `waiting` is clear holds no work, or the
  /// thread that cleared the bit sets it again and wakes a worker: see Pool+Park.
  let injectorHints = Atomic<UInt32>(0)
  /// The hints, for a reader that checks what it finds.
  // relaxed: a bit that it misses, it sees at a later look, or the scan before the sleep does.
  @inline(__always)
  var hints: InjectorHints { InjectorHints(injectorHints.load(ordering: .relaxed)) }
  /// Counts the monitor's looks that found an overdue injector.
  let overdueLook = Atomic<UInt32>(0)
  /// Active workers by the band of their node, ten bits for each band.
  let bandUse = Atomic<UInt64>(0)
  /// The queue that a frame names for an item of a global queue, by band. The queues of
  /// overcommitting items follow at offset `overcommitRoots`.
  /// Written once, before any work; plain memory, so that reading it counts no references.
  let rootOfBand: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  static var overcommitRoots: Int { 8 }
  let monitor: Monitor

  let idleLock = Lock()
  /// The idle workers, and the records without a thread. Guarded by idleLock, as the rest of these.
  @Cell var idleStack: IdleStack
  @Cell var freeWorkers: [Worker] = []
  @Cell var laneReserve = LaneReserve()
  /// The number of records of external workers, which never become free.
  @Cell var externalWorkers = 0
  /// Chosen workers that wait for the monitor to start their threads: see makesPlainThreads.
  @Cell var workersToStart: [Worker] = []

  /// Every worker ever made, by index; the first `workerCount` slots are filled.
  let workers: UnsafeMutablePointer<Unmanaged<Worker>?>
  let workerCount = Atomic<Int>(0)
  /// Room for the words of every worker's local queues.
  let localQueueWords: LocalQueueWords
  // See Pool+Width.
  let lastWidthRead = Atomic<UInt64>(0)
  let lastMaskRead = Atomic<UInt64>(0)
  /// The control groups' quota if it is below the mask, else `.max`.
  let quotaWidth = Atomic<Int>(.max)
  /// One bit for each report printed since the monitor last slept: see Pool+Holders.
  let reported = Atomic<UInt8>(0)

  // See Pool+Shortage.swift.
  /// Number of threads refused so far.
  let refusals = Atomic<Int>(0)
  /// No thread is requested before this monotonic time; 0: the last request was granted.
  let refusedUntil = Atomic<UInt64>(0)
  /// When the requests began to be refused, by the monotonic clock.
  let refusedSince = Atomic<UInt64>(0)
  let reportedRefusal = Atomic<Bool>(false)
  /// Called when a `ThreadlessRetry` begins. Written before any work.
  var whenRetriesBegin: (@Sendable () -> Void)?

  init(_ configuration: Configuration, monitor: Monitor = Monitor()) {
    self.configuration = configuration
    self.monitor = monitor
    width = Atomic(configuration.width)
    rootOfBand = .allocate(capacity: 2 * Self.overcommitRoots)
    rootOfBand.initialize(repeating: nil, count: 2 * Self.overcommitRoots)
    injectors = .allocate(capacity: InjectorKey.count)
    for index in configuration.injectors.indices {
      (injectors + index).initialize(
        to: Unmanaged.passRetained(Injector(inboxes: configuration.furtherInboxes)))
    }
    let maxWorkers = configuration.maxWorkers
    workers = .allocate(capacity: maxWorkers)
    workers.initialize(repeating: nil, count: maxWorkers)
    localQueueWords = LocalQueueWords(capacity: maxWorkers)
    idleStack = IdleStack(capacity: maxWorkers)
    beginWidth()
  }

  // The pool of the process is never freed. Other pools are retained by each of their threads.
  deinit {
    for index in configuration.injectors.indices {
      injectors[index].release()
    }
    injectors.deallocate()
    rootOfBand.deallocate()
    for index in 0..<workerCount.load(ordering: .relaxed) { workers[index]?.release() }
    workers.deallocate()
    localQueueWords.deallocate(count: workerCount.load(ordering: .relaxed))
    $idleStack.deallocate()
  }

  /// Whether more threads run or sleep in items than are made at first: see WorkKind.
  @inline(__always)
  var isStressed: Bool {
    let seen = state.load(ordering: .relaxed)
    return seen.threads - seen.idle > firstThreads
  }

  /// Whether as many threads run or sleep in items as are made at first.
  @inline(__always)
  var hasFirstThreads: Bool {
    let seen = state.load(ordering: .relaxed)
    return seen.threads - seen.idle >= firstThreads
  }

  @inline(__always)
  func withInjector<Result>(_ key: InjectorKey, _ body: (Injector) -> Result) -> Result {
    withInjector(at: key.index, body)
  }

  @inline(__always)
  func withInjector<Result>(at index: Int, _ body: (Injector) -> Result) -> Result {
    // SAFETY: injectors live as long as the pool.
    injectors[index]._withUnsafeGuaranteedRef(body)
  }

  /// Whether a worker runs in a lower band. It looks for higher work only in injectors.
  @inline(__always)
  func hasWorkersBelow(_ band: Band) -> Bool {
    bandUse.load(ordering: .relaxed) & (1 << (UInt64(band.rawValue) * 10) - 1) != 0
  }

  /// Whether a worker runs in a band from default up to the one below `band`. Those in lower ones
  /// give their CPU to a thread that wakes up.
  func hasWorkersFromDefault(below band: Band) -> Bool {
    let lower: UInt64 = 1 << (UInt64(Band.default.rawValue) * 10)
    let upper: UInt64 = 1 << (UInt64(band.rawValue) * 10)
    return upper > lower && bandUse.load(ordering: .relaxed) & (upper &- lower) != 0
  }

  /// Counts the nodes that entered and left an injector, for a WaitClock.
  func counts(of key: InjectorKey) -> (came: UInt32, went: UInt32) {
    configuration.injectors.contains(key) ? withInjector(key) { $0.counts() } : (0, 0)
  }

  func worker(at index: Int) -> Worker? {
    // SAFETY: slots below workerCount are filled once and never change.
    workers[index]?._withUnsafeGuaranteedRef { $0 }
  }

  /// Makes a worker record. Requires the idle lock.
  func makeWorker(externalWorker: String? = nil) -> Worker {
    let index = workerCount.load(ordering: .relaxed)
    invariant(
      index < configuration.maxWorkers,
      "There are \(index) workers already.")
    let worker = Worker(index: index, pool: self, externalWorker: externalWorker)
    workers[index] = Unmanaged.passRetained(worker)
    // releasing: pairs with the acquiring loads of the threads that iterate over the workers.
    // sequentiallyConsistent: a worker that checks for work before it parks must not miss the local
    // queues of a new worker.
    workerCount.store(index + 1, ordering: .sequentiallyConsistent)
    return worker
  }

  func start(_ worker: Worker) {
    if configuration.hasEffects, monitor.isThere,
      !ThreadEffects.makesPlainThreads(currentThread())
    {
      idleLock.withLock { workersToStart.append(worker) }
      return monitor.watch(self)
    }
    makeThread(for: worker)
  }

  /// Starts the workers whose submitters would make lowered threads. Monitor only.
  func startWaitingWorkers() {
    while let worker = idleLock.withLock({ workersToStart.popLast() }) { makeThread(for: worker) }
  }

  var hasWorkersToStart: Bool { idleLock.withLock { !workersToStart.isEmpty } }

  private func makeThread(for worker: Worker) {
    BlackBox.open()
    let start = Unmanaged.passRetained(WorkerStart(pool: self, worker: worker))
    let error = spawn(
      { argument in
        // SAFETY: the pair passed below, owned by this thread.
        let start = Unmanaged<WorkerStart>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        start.pool.runWorker(start.worker)
        return nil
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 { return }
    start.release()
    if let (node, band) = worker.takeHanded() { putBack(node, band: band) }
    worker.starvedTurn = nil
    idleLock.withLock { recordIsFree(worker) }
    change { $0.spawnFailed() }
    // Submitters saw a searcher that never arrived; the monitor checks for the work of all of them.
    monitor.watch(self, isUrgent: true)
    reportRefusal(error)
  }

  /// Applies a transition that always succeeds to the state word, and returns the previous state.
  @discardableResult
  func change(_ transition: (PoolState) -> PoolState) -> PoolState {
    // sequentiallyConsistent: every change of the counts is part of the pair in Pool+Park.swift.
    state.change(.sequentiallyConsistent) { (transition($0), $0) }
  }
}
