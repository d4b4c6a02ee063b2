// Room: Pool. Runs nodes on as many threads as there are CPUs to use, higher bands first.
// Life of a node: submit() → an idle worker directly, or the submitting worker's local queue, or
// the injector of its kind and band → a worker takes it → the worker runs it.
// Files: +Take finds a node, +Park wakes and parks workers, +Classes counts workers per class,
// +Send passes a node to another worker, +Blocked replaces workers whose items sleep, Monitor finds
// workers that sleep unannounced, +ExternalWorker runs nodes on the poller's threads, +Width reads
// how many CPUs to use, +Shortage retries after a refused thread, +Holders reports the queues whose
// items hold the threads, +Fork resets the pool in a forked child.
import CGrandCentralLinux

final class Pool: @unchecked Sendable {
  struct Configuration {
    /// CPUs to use at the start; re-read while the pool runs unless fixed.
    var width: Int
    /// Re-reads the width; `nil` if it is fixed.
    var readWidth: (@Sendable () -> Int)?
    /// Reads the number of CPUs in the affinity mask, an upper bound; `nil` if the width is fixed.
    var readMask: (@Sendable () -> Int?)?
    /// The thread limit where the monitor does not raise it.
    func firstThreads(width: Int) -> Int { min(maxThreads, 2 * width + 2) }
    /// Threads for items while other items make progress: see GrowthPolicy.
    var softThreads: Int
    /// The same limit while lanes wait.
    var softThreadsForLanes: Int { min(maxThreads, 4 * softThreads) }
    /// The maximum number of threads.
    var maxThreads: Int
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
    /// The `InjectorKey` bits that are in use. A model that uses one need not scan ten.
    var sources = InjectorKey.all
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
  let width: Atomic<Int>
  /// The maximum number of threads, where the monitor has raised it; 0: not now.
  let raisedThreads = Atomic<Int>(0)
  /// Indexed by `InjectorKey.index`.
  private let injectors: UnsafeMutablePointer<Unmanaged<Injector>>
  /// Bit n: the injector with index n may hold work; clear: it holds none, or the thread that
  /// cleared the bit sets it again and wakes a worker. See Pool+Park. Bit 16 + n, a hint: its
  /// oldest node is overdue, see OverdueTurn.
  let sourcesWaiting = Atomic<UInt32>(0)
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
  /// The idle workers, and the records without a thread. Guarded by idleLock.
  @Cell var idleStack: IdleStack
  @Cell var freeWorkers: [Worker] = []
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
    for index in 0..<InjectorKey.count where configuration.sources >> UInt32(index) & 1 != 0 {
      (injectors + index).initialize(
        to: Unmanaged.passRetained(Injector(inboxes: configuration.furtherInboxes)))
    }
    let maxWorkers = configuration.maxThreads + Self.maxExternalWorkers
    workers = .allocate(capacity: maxWorkers)
    workers.initialize(repeating: nil, count: maxWorkers)
    localQueueWords = LocalQueueWords(capacity: maxWorkers)
    idleStack = IdleStack(capacity: maxWorkers)
    beginWidth()
  }

  // The pool of the process is never freed. Other pools are retained by each of their threads.
  deinit {
    for index in 0..<InjectorKey.count where configuration.sources >> UInt32(index) & 1 != 0 {
      injectors[index].release()
    }
    injectors.deallocate()
    rootOfBand.deallocate()
    for index in 0..<workerCount.load(ordering: .relaxed) { workers[index]?.release() }
    workers.deallocate()
    localQueueWords.deallocate(count: workerCount.load(ordering: .relaxed))
    $idleStack.deallocate()
  }

  /// Runs `node` on a worker. Consumes the node. Any thread; never blocks for long.
  func submit(_ node: WorkNode, _ kind: WorkKind, band asked: Band, from thread: ThreadContext) {
    let source = InjectorKey(kind: kind, band: asked == .unspecified ? .default : asked)
    if thread.pointee.worker == nil && submitToIdle(node, source) { return }
    if !putLocally(node, source, on: thread) {
      withInjector(source) { $0.push(node) }
      markWaiting(source)
    }
    wakeIfNeeded()
  }

  /// Whether more threads run or sleep in items than are made at first: see WorkKind.
  @inline(__always)
  var isStressed: Bool {
    let seen = state.load(ordering: .relaxed)
    return seen.threads - seen.idle > firstThreads
  }

  /// Puts the node in the calling worker's local queue, unless a worker in a lower band must see
  /// it.
  @inline(__always)
  private func putLocally(_ node: WorkNode, _ source: InjectorKey, on thread: ThreadContext) -> Bool
  {
    guard let worker = thread.pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(worker)._withUnsafeGuaranteedRef { worker in
      // For this pool, a worker of another pool is an ordinary thread.
      guard worker.pool === self, !hasWorkersBelow(source.band),
        source.kind == .items || !isStressed
      else { return false }
      if worker.band != source.band {
        // An external worker has no band until it has submitted a node.
        guard worker.band == .unspecified else { return false }
        enter(source.band, worker)
      }
      let localQueue = worker.localQueue(source.kind)
      guard localQueue.accepts(source.band) else { return false }
      localQueue.put(node, band: source.band)
      return true
    }
  }

  @inline(__always)
  func withInjector<Result>(_ source: InjectorKey, _ body: (Injector) -> Result) -> Result {
    withInjector(at: source.index, body)
  }

  @inline(__always)
  func withInjector<Result>(at index: Int, _ body: (Injector) -> Result) -> Result {
    // SAFETY: injectors live as long as the pool.
    injectors[index]._withUnsafeGuaranteedRef(body)
  }

  /// Sets the bit of an injector that has just received work. The caller then wakes a worker.
  func markWaiting(_ source: InjectorKey) {
    let bit = source.bit
    // sequentiallyConsistent, both: either unmarkIfEmpty() sees our node, or we see its cleared
    // bit. And with the bit the node is published: see Pool+Park.
    if sourcesWaiting.load(ordering: .sequentiallyConsistent) & bit == 0 {
      sourcesWaiting.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }
  }

  /// Clears the bits of an injector that was found empty.
  func unmarkIfEmpty(_ source: InjectorKey) {
    let bit = source.bit
    let bits = bit | bit << OverdueTurn.shift
    // The monitor may have called it overdue after its last node was taken.
    guard sourcesWaiting.load(ordering: .relaxed) & bits != 0 else { return }
    sourcesWaiting.bitwiseAnd(~bits, ordering: .sequentiallyConsistent)
    if !withInjector(source, { $0.isEmpty }) {
      sourcesWaiting.bitwiseOr(bit, ordering: .sequentiallyConsistent)
      // A scan between the two missed the node, whose submitter may have seen a searcher.
      // sequentiallyConsistent: the submitter's half of the pair in Pool+Park.
      wakeIfNeeded(seeing: state.load(ordering: .sequentiallyConsistent))
    }
  }

  /// Whether a worker runs in a lower band. It looks for higher work only in injectors.
  func hasWorkersBelow(_ band: Band) -> Bool {
    bandUse.load(ordering: .relaxed) & (1 << (UInt64(band.rawValue) * 10) - 1) != 0
  }

  /// Whether any injector or local queue holds work. Sequentially consistent: see Pool+Park.swift.
  func hasWork() -> Bool {
    var waiting =
      sourcesWaiting.load(ordering: .sequentiallyConsistent) & configuration.sources
    while waiting != 0 {
      let index = waiting.trailingZeroBitCount
      waiting &= waiting &- 1
      // SAFETY: as in withInjector().
      if !injectors[index]._withUnsafeGuaranteedRef({ $0.isEmpty }) { return true }
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

  /// Counts the nodes that entered and left an injector, for a WaitClock.
  func counts(of source: InjectorKey) -> (came: UInt32, went: UInt32) {
    configuration.sources & source.bit == 0 ? (0, 0) : withInjector(source) { $0.counts() }
  }

  func worker(at index: Int) -> Worker? {
    // SAFETY: slots below workerCount are filled once and never change.
    workers[index]?._withUnsafeGuaranteedRef { $0 }
  }

  /// Applies a transition that always succeeds to the state word, and returns the previous state.
  @discardableResult
  func change(_ transition: (PoolState) -> PoolState) -> PoolState {
    // sequentiallyConsistent: every change of the counts is part of the pair in Pool+Park.swift.
    state.change(.sequentiallyConsistent) { (transition($0), $0) }
  }
}
