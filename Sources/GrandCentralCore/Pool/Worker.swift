// Room: Pool/Worker. One thread of the pool, and the state that other threads read.
// Workers live as long as their pool. The next thread reuses the record of a thread that ended, so
// a thief or the monitor may keep a reference at any time.

final class Worker: @unchecked Sendable {
  let index: Int
  let items: LocalQueue
  let lanes: LocalQueue

  func localQueue(_ kind: WorkKind) -> LocalQueue { kind == .items ? items : lanes }
  var hasLocalWork: Bool { !items.isEmpty || !lanes.isEmpty }

  /// How the pool counts this worker.
  ///   away ─start, wake, unpark→ running      running, uncounted ─park, end→ away
  ///   running, uncounted ─announce→ announced ─back→ running
  ///   running ─monitor→ uncounted ─back, or monitor→ running
  enum Status: UInt8, AtomicRepresentable {
    /// Parked, or no thread at all.
    case away
    case running
    /// Its item sleeps in a wait of the engine; not counted active.
    case announced
    /// The monitor found that its item rests or is overdue (GrowthPolicy); not counted active.
    case uncounted
  }
  /// Releasing where the worker was counted before, acquiring where it is subtracted afterwards.
  let status = Atomic<Status>(.away)
  /// Counts the nodes that the worker took from the pool.
  let picks = Atomic<UInt32>(0)
  /// Whether its last node was an activation of a lane. For the monitor; relaxed, a hint.
  let isInLane = Atomic<Bool>(false)
  let threadID = Atomic<UInt32>(0)

  /// The pool that owns the worker, and lives longer.
  unowned(unsafe) let pool: Pool

  /// The address of the context of this worker's thread; set before the worker is first idle.
  /// Releasing and acquiring: a reader of the address also sees the context's shared part.
  private let threadWord = Atomic<UInt>(0)
  var thread: ThreadContext? {
    get { ThreadContext(bitPattern: threadWord.load(ordering: .acquiring)) }
    set { threadWord.store(UInt(bitPattern: newValue), ordering: .releasing) }
  }

  /// Guarded by the pool's idle lock.
  @Cell var isOnIdleStack = false

  /// Whether the monitor has named the thread after the queue it is on: see WorkerName.
  let isNamedByMonitor = Atomic<Bool>(false)
  let plainName: ThreadName

  /// An external worker, which does not wait on the idle stack: see Pool+ExternalWorker.swift.
  let isExternal: Bool

  // Owner only.
  var band = Band.unspecified
  /// A copy of `band` for other threads; relaxed, a hint.
  let visibleBand = Atomic<UInt8>(0)
  var isSearching = false
  /// Whether its thread left a lowered class for the present search: see goIdle().
  var wasLow = false
  var adaptiveSearch = AdaptiveSearch()
  /// The count of picks when it was last woken after a long sleep; `nil`: the sleep was short.
  private var picksWhenWoken: UInt32?
  private static var longSleep: UInt64 { 1_000_000 }
  @Cell var name = WorkerName()
  /// The number of nodes to take next from an injector: 1, 2, 4 … while its items do not sleep.
  /// Nodes in the local queue of a sleeping worker begin later than nodes that came after them.
  private(set) var refill = Worker.minRefill
  private static var minRefill: Int { scaled(1, inModels: 64) }
  private static var maxRefill: Int { 64 }

  /// When it may take from an overdue injector again.
  var overdueTurn = OverdueTurn()

  /// Notes that the worker was woken after a sleep of that length, now by the coarse clock.
  // Not inlined: merged with other accesses, those below would be checked at run time.
  @inline(never)
  func slept(nanoseconds: UInt64, until now: UInt64) {
    name.began(at: now)
    // A copy, as in Pool.search().
    var search = adaptiveSearch
    search.slept(nanoseconds: nanoseconds)
    adaptiveSearch = search
    let isLong = nanoseconds >= Self.longSleep
    picksWhenWoken = isLong ? picks.load(ordering: .relaxed) : nil
    promptTurns.began = now
  }

  /// Whether it was woken after a long sleep and has run at most one node since: it has picked once
  /// for each node that was not handed to it, and once more for this search.
  var isWokenForOne: Bool {
    guard let picksWhenWoken else { return false }
    return picks.load(ordering: .relaxed) &- picksWhenWoken <= 2
  }

  var promptTurns = PromptTurns()

  /// Notes that the worker is about to sleep, now by the coarse clock. Returns whether its thread
  /// should become prompt, or no longer be so.
  func endsTurn(at now: UInt64) -> Bool {
    promptTurns.ended(isForOne: isWokenForOne, at: now)
  }

  func grewRefill() { refill = min(Self.maxRefill, 2 * refill) }
  func shrankRefill() { refill = Self.minRefill }

  /// A node that a submitter passed to this worker with its wake-up. The thread that takes the
  /// worker off the idle stack writes it before the grant; the worker reads it after the grant.
  @Cell var handed: (node: WorkNode, band: Band)? = nil

  func hand(_ node: WorkNode, band: Band) { handed = (node, band) }

  func takeHanded() -> (node: WorkNode, band: Band)? {
    guard let taken = handed else { return nil }
    handed = nil
    return taken
  }

  // Monitor only.
  var lastPicks: UInt32 = 0
  var lastNamedPick: UInt32 = 0
  var record = GrowthPolicy.Record()
  var laneWait = WaitClock()
  var lastLook = LastLook()

  /// The thread that the monitor last saw with this record, the time, and its CPU time so far.
  struct LastLook {
    var thread: UInt32 = 0
    var nanoseconds: UInt64 = 0
    var cpuNanoseconds: Int64 = 0
  }

  /// `externalWorker`: the thread name of an external worker; `nil` for others.
  init(index: Int, pool: Pool, externalWorker: String? = nil) {
    self.index = index
    self.pool = pool
    items = LocalQueue(at: pool.localQueueWords.words(index, .items))
    lanes = LocalQueue(at: pool.localQueueWords.words(index, .lanes))
    isExternal = externalWorker != nil
    plainName = ThreadName(externalWorker ?? "gc-worker-\(index)")
  }

  deinit {
    items.dismantle()
    lanes.dismantle()
  }
}

/// What a worker's thread is started with.
final class WorkerStart {
  let pool: Pool
  let worker: Worker
  init(pool: Pool, worker: Worker) {
    self.pool = pool
    self.worker = worker
  }
}
