// Room: Pool. Runs nodes on as many threads as there are CPUs to use, higher bands first.
// Life of a node: submit() → the worker's own ring, or the injector of its band → a worker takes it →
// runs it. Files: +Take where work comes from, +Park how workers sleep and wake, +Classes how many of them work for
// which class, +Blocked what happens when items sleep, Monitor who notices when they do so in silence.
import CLinux

final class Pool: @unchecked Sendable {
  struct Configuration {
    /// CPUs to use; re-read while running unless fixed.
    var width: Int
    /// Re-reads the width, or nil when it is fixed.
    var readWidth: (@Sendable () -> Int)?
    /// Reads how many CPUs the affinity mask has, which bound the width, or nil when that is fixed.
    var readMask: (@Sendable () -> Int?)?
    /// Threads made at once when items sleep; the monitor adds more a millisecond later.
    func firstThreads(width: Int) -> Int { min(mostThreads, 2 * width + 2) }
    /// Threads made for items while others make progress: see GrowthPolicy.
    var softThreads: Int
    /// The same while lanes wait.
    var softThreadsForLanes: Int { min(mostThreads, 4 * softThreads) }
    /// Threads ever made.
    var mostThreads: Int
    /// How long a worker stays without work.
    var keepAliveNanoseconds: UInt64 = 5_000_000_000
    /// How often a searching worker looks again before it parks.
    var searchRounds = scaled(16, inModels: 1)
    /// Starts a detached thread with that much stack (0: default); returns 0 or an errno. A parameter,
    /// so that a test or a model can refuse one.
    var spawn: Spawn = { startThread($0, $1, stackBytes: $2) }
    /// The signals that new workers block, as the program's main thread does; `nil`: not to be told.
    var readBlockedSignals: @Sendable () -> UInt64? = { Process.mainThreadBlockedSignals() }
    /// Whether classes have their effect on the threads: see QoS/ThreadEffects.
    var hasEffects = false
    /// The bits of those sources that work comes from. A model that uses one need not look at ten.
    var sources = Source.all
  }

  typealias Spawn = @Sendable (ThreadBody, UnsafeMutableRawPointer, _ stackBytes: Int) -> Int32

  let configuration: Configuration
  let state = Atomic<PoolState>(PoolState(rawValue: 0))
  /// Active workers that there may be now: the width, plus what the monitor adds for a while.
  let allowance: Atomic<Int>
  /// More of them, as long as they take lanes: set by the monitor while lanes have waited for long.
  let lanesBeyond = Atomic<Int>(0)
  /// Whether an idle worker is woken for a lane at once, however many are active.
  let lanesOvercommit = Atomic<Bool>(false)
  let width: Atomic<Int>
  /// Threads that there may be now; the monitor raises it while items sleep.
  let threadAllowance: Atomic<Int>
  /// By Source.index.
  private let injectors: UnsafeMutablePointer<Unmanaged<Injector>>
  /// Bit n: the injector with that index may hold work. A hint for workers that are busy anyway.
  let sourcesWaiting = Atomic<UInt32>(0)
  /// Active workers by the band they work in, ten bits each.
  let bandUse = Atomic<UInt64>(0)
  /// The queue that each band's work is on when it is on no other, for frames; `overcommitRoots`
  /// places later the queue of items that overcommit.
  /// Written once, before any work; plain memory, so that reading it counts no references.
  let rootOfBand: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  static var overcommitRoots: Int { 8 }
  let monitor: Monitor

  let idleLock = Lock()
  /// Guarded by idleLock: idle workers, the last to park at the end, and records without a thread.
  @Cell var idleStack: [Worker] = []
  @Cell var freeWorkers: [Worker] = []
  /// Chosen, and to get their threads from the monitor: see ThreadEffects.makesPlainThreads.
  @Cell var workersToStart: [Worker] = []

  /// All workers that ever were, by index; `workerCount` of them are filled.
  let workers: UnsafeMutablePointer<Unmanaged<Worker>?>
  let workerCount = Atomic<Int>(0)
  // See Pool+Width.
  let firstThreads: Atomic<Int>
  let lastWidthRead = Atomic<UInt64>(0)
  let lastMaskRead = Atomic<UInt64>(0)
  /// What the control groups' quotas allow, as far as that is less than the mask.
  let quotaWidth = Atomic<Int>(.max)
  /// The reports that were made since the monitor last rested, one bit each: see Pool+Holders.
  let reported = Atomic<UInt8>(0)

  // See Pool+Shortage.swift.
  /// Threads refused so far.
  let refusals = Atomic<Int>(0)
  /// Until when asking for a thread is in vain, on the monotonic clock; 0: the last one was granted.
  let refusedUntil = Atomic<UInt64>(0)
  let reportedRefusal = Atomic<Bool>(false)
  /// Called when sleeping threads begin to keep watch. Written before any work.
  var whenVigilBegins: (@Sendable () -> Void)?

  init(_ configuration: Configuration, monitor: Monitor = Monitor()) {
    self.configuration = configuration
    self.monitor = monitor
    allowance = Atomic(configuration.width)
    width = Atomic(configuration.width)
    let first = configuration.firstThreads(width: configuration.width)
    firstThreads = Atomic(first)
    threadAllowance = Atomic(first)
    rootOfBand = .allocate(capacity: 2 * Self.overcommitRoots)
    rootOfBand.initialize(repeating: nil, count: 2 * Self.overcommitRoots)
    injectors = .allocate(capacity: Source.count)
    for index in 0..<Source.count where configuration.sources >> UInt32(index) & 1 != 0 {
      (injectors + index).initialize(to: Unmanaged.passRetained(Injector()))
    }
    let mostWorkers = configuration.mostThreads + Self.mostGuests
    workers = .allocate(capacity: mostWorkers)
    workers.initialize(repeating: nil, count: mostWorkers)
    idleStack.reserveCapacity(configuration.mostThreads)
    beginWidth()
  }

  // The pool of the process lives as long as that. Another one lives as long as somebody refers to it: each
  // of its threads does.
  deinit {
    for index in 0..<Source.count where configuration.sources >> UInt32(index) & 1 != 0 {
      injectors[index].release()
    }
    injectors.deallocate()
    rootOfBand.deallocate()
    for index in 0..<workerCount.load(ordering: .relaxed) { workers[index]?.release() }
    workers.deallocate()
  }

  /// Runs `node` on some worker. Consumes it. Any thread; never blocks.
  func submit(_ node: WorkNode, _ kind: WorkKind, band asked: Band, from thread: ThreadContext) {
    let source = Source(kind: kind, band: asked == .unspecified ? .default : asked)
    if thread.pointee.worker == nil && handToIdle(node, source) { return }
    if !putLocally(node, source, on: thread) {
      withInjector(source) { $0.push(node) }
      markWaiting(source)
    }
    wakeIfNeeded()
  }

  /// More threads are at work or asleep in items than are made at first: see WorkKind.
  @inline(__always)
  var isStressed: Bool {
    let seen = state.load(ordering: .relaxed)
    return seen.threads - seen.idle > firstThreads.load(ordering: .relaxed)
  }

  /// Into the calling worker's own ring, unless workers below the band would not see it there.
  @inline(__always)
  private func putLocally(_ node: WorkNode, _ source: Source, on thread: ThreadContext) -> Bool {
    guard let worker = thread.pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(worker)._withUnsafeGuaranteedRef { worker in
      // A worker of another pool is no different from any other thread.
      guard worker.pool === self, !hasWorkersBelow(source.band),
        source.kind == .items || !isStressed
      else { return false }
      if worker.band != source.band {
        // A guest has no band until it has brought something.
        guard worker.band == .unspecified else { return false }
        enter(source.band, worker)
      }
      let ring = worker.ring(source.kind)
      guard ring.accepts(source.band) else { return false }
      ring.put(node, band: source.band)
      return true
    }
  }

  @inline(__always)
  func withInjector<Result>(_ source: Source, _ body: (Injector) -> Result) -> Result {
    withInjector(at: source.index, body)
  }

  @inline(__always)
  func withInjector<Result>(at index: Int, _ body: (Injector) -> Result) -> Result {
    // SAFETY: injectors live as long as the pool.
    injectors[index]._withUnsafeGuaranteedRef(body)
  }

  /// Sets the hint of a source that has just been given work.
  func markWaiting(_ source: Source) {
    let bit = source.bit
    // sequentiallyConsistent against unmarkIfEmpty(): either it sees our node, or we see its zero.
    if sourcesWaiting.load(ordering: .sequentiallyConsistent) & bit == 0 {
      sourcesWaiting.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }
  }

  /// Clears the hint of a source whose injector was found empty.
  func unmarkIfEmpty(_ source: Source) {
    let bit = source.bit
    guard sourcesWaiting.load(ordering: .relaxed) & bit != 0 else { return }
    sourcesWaiting.bitwiseAnd(~bit, ordering: .sequentiallyConsistent)
    if !withInjector(source, { $0.isEmpty }) {
      sourcesWaiting.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }
  }

  /// Whether a worker is at work in a lower band: then higher work must be where it sees it.
  func hasWorkersBelow(_ band: Band) -> Bool {
    bandUse.load(ordering: .relaxed) & (1 << (UInt64(band.rawValue) * 10) - 1) != 0
  }

  /// Any work anywhere. Sequentially consistent: see Pool+Park.swift.
  func hasWork() -> Bool {
    var rest = configuration.sources
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      rest &= rest &- 1
      // SAFETY: as in withInjector().
      if !injectors[index]._withUnsafeGuaranteedRef({ $0.isEmpty }) { return true }
    }
    for index in 0..<workerCount.load(ordering: .sequentiallyConsistent) {
      // SAFETY: as in worker(at:).
      if workers[index]?._withUnsafeGuaranteedRef({ $0.hasRings }) ?? false { return true }
    }
    return false
  }

  /// How many nodes came to the injector of a source and went, for a WaitClock.
  func counts(of source: Source) -> (came: UInt32, went: UInt32) {
    configuration.sources & source.bit == 0 ? (0, 0) : withInjector(source) { $0.counts() }
  }

  func worker(at index: Int) -> Worker? {
    // SAFETY: slots below workerCount are filled once and never change.
    workers[index]?._withUnsafeGuaranteedRef { $0 }
  }

  /// Applies a transition of the state word that always succeeds, and returns the state before.
  @discardableResult
  func change(_ transition: (PoolState) -> PoolState) -> PoolState {
    var seen = state.load(ordering: .relaxed)
    while true {
      // sequentiallyConsistent: every change of the counts takes part in the pair of Pool+Park.swift.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: transition(seen), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if won { return seen }
      seen = now
    }
  }
}
