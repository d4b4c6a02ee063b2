// Room: Pool/Worker. One thread of the pool: the state that other threads read, and what it keeps
// of its own sleeps, which decides whether it searches before the next one, and whether it is
// prompt.
// Workers live as long as their pool. The next thread reuses the record of a thread that ended, so
// a thief or the monitor may keep a reference at any time.

final class Worker: @unchecked Sendable {
  let index: Int
  let items: LocalQueue
  let lanes: LocalQueue

  func localQueue(_ kind: WorkKind) -> LocalQueue { kind == .items ? items : lanes }
  var hasLocalWork: Bool { !items.isEmpty || !lanes.isEmpty }
  /// The number of nodes in its local queues. Its own thread.
  var queuedNodes: UInt32 { items.count + lanes.count }
  /// The band of the nodes in a local queue; unspecified if it is empty.
  @inline(__always)
  func bandInLocalQueue(_ kind: WorkKind) -> Band { localQueue(kind).words.pointee.bandOfNodes }
  /// The bands of the nodes in both local queues.
  @inline(__always)
  var bandsInLocalQueues: LocalBands {
    LocalBands(items: bandInLocalQueue(.items), lanes: bandInLocalQueue(.lanes))
  }
  /// The highest band of its queued nodes.
  @inline(__always)
  var bandInLocalQueues: Band { bandsInLocalQueues.highest }

  struct LocalBands {
    let items: Band
    let lanes: Band

    @inline(__always) var highest: Band { max(items, lanes) }

    /// The kind of the higher band; `first` if both are the same.
    @inline(__always)
    func mostUrgent(orElse first: WorkKind) -> WorkKind {
      items == lanes ? first : items > lanes ? .items : .lanes
    }
  }

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
  /// Whether its thread takes lanes only: see Pool+LaneReserve. Written under the idle lock, before
  /// the thread begins and after its last node; and by the thread itself, between two nodes and in
  /// a forked child.
  @Cell var isInReserve = false

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
  @Cell var thiefPause = ThiefPause()
  /// Whether an external worker delivers events: what it puts into its local queues wakes no other
  /// worker.
  var isDelivering = false
  /// Whether its thread left a lowered class for the present search: see goIdle().
  var wasLow = false
  /// When its thread was last lowered, if it is in a class below default; `nil`: it never was by
  /// the pool.
  var lowPeriod: LowPeriod?
  var adaptiveSearch = AdaptiveSearch()
  /// The count of picks when it was last woken, and whether the sleep before was long.
  private var picksWhenWoken: UInt32 = 0
  private var hasSleptLong = false
  private static var longSleep: UInt64 { 1_000_000 }
  @Cell var name = WorkerName()
  @Cell var chunkSize = ChunkSize()

  /// Its turn, if the monitor has sent it for a starved class. Written before the grant, as
  /// `handed` is.
  @Cell var starvedTurn: StarvedTurn? = nil

  var deferredWake = DeferredWake()
  /// When a lane last gave way here, while items go first for that; 0: they do not. See LaneTurn.
  var turnOfItems: UInt64 = 0
  /// When it may take from an overdue injector again.
  var injectorTurn = InjectorTurn()
  /// Whether its last lane, beyond the allowance, was an overdue one.
  var tookOverdueLane = false

  /// Notes that the worker was woken after a sleep of that length, now by the coarse clock.
  // Not inlined: merged with other accesses, those below would be checked at run time.
  @inline(never)
  func slept(nanoseconds: UInt64, until now: UInt64) {
    name.began(at: now)
    // A copy, as in Pool.search().
    var search = adaptiveSearch
    search.slept(nanoseconds: nanoseconds)
    adaptiveSearch = search
    hasSleptLong = nanoseconds >= Self.longSleep
    picksWhenWoken = picks.load(ordering: .relaxed)
    chunkSize.slept()
    thiefPause = ThiefPause()
    promptTurns.began = now
  }

  /// Whether it was woken after a long sleep and has run at most one node since: it has picked once
  /// for each node that was not handed to it, and once more for this search.
  var isWokenForOne: Bool {
    hasSleptLong && picksSinceWoken <= 2
  }

  /// Whether it has run a node since it was woken: the pick of this one is the second.
  var hasRunSinceWoken: Bool { picksSinceWoken >= 2 }

  private var picksSinceWoken: UInt32 { picks.load(ordering: .relaxed) &- picksWhenWoken }

  var promptTurns = PromptTurns()

  /// Notes that the worker is about to sleep, now by the coarse clock. Returns whether its thread
  /// should become prompt, or no longer be so.
  func endsTurn(at now: UInt64) -> Bool {
    promptTurns.ended(isForOne: isWokenForOne, at: now)
  }

  /// A node that a submitter passed to this worker with its wake-up. The thread that takes the
  /// worker off the idle stack writes it before the grant; the worker reads it after the grant.
  @Cell var handed: (node: WorkNode, band: Band)? = nil

  /// Notes that items sleep.
  func itemsSleep() {
    chunkSize = ChunkSize()
    injectorTurn.sawSleep()
  }

  func hand(_ node: WorkNode, band: Band) { handed = (node, band) }

  func takeHanded() -> (node: WorkNode, band: Band)? {
    guard let taken = handed else { return nil }
    handed = nil
    return taken
  }

  /// Notes the kind of the node that the worker runs next. Owner only.
  @inline(__always)
  func note(_ kind: WorkKind) {
    // relaxed: a hint.
    let inLane = kind == .lanes
    if isInLane.load(ordering: .relaxed) != inLane { isInLane.store(inLane, ordering: .relaxed) }
  }

  // Monitor only.
  var lastPicks: UInt32 = 0
  /// How many looks in a row have seen the same pick.
  var looksAtPick = 0
  /// Whether the last look found that its thread is to be raised later.
  var isToBeRaised = false
  var lastNamedPick: UInt32 = 0
  /// The label that it last wrote as the thread's name.
  var labelByMonitor = ""
  var record = GrowthPolicy.Record()
  var laneWait = WaitClock()
  var itemWait = WaitClock()
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

// MARK: What its last sleeps say of the next

/// Decides whether a thread without work spins for a while before it sleeps. When a pool thread and
/// another thread, such as the main thread, hand each other single items, both would sleep and wake
/// at each hand-off. So a thread that was woken soon after it fell asleep expects the same the next
/// time, and first spins for about what a sleep and a wake cost. If that finds nothing, its next
/// sleeps start at once, however short they are, more of them after each further failure: work that
/// always comes too late costs a failed spin now and then. It comes late where the thread that
/// would send it has no CPU of its own. Each value belongs to one thread.
/// The thread does not call sched_yield(2) meanwhile. The kernel (measured: Linux 6.18) runs other
/// threads of the CPU first for about a slice afterwards, also if the thread has slept since and
/// is woken for the next item. A notification that waits for its observer took 1.2 ms beside two
/// busy processes, and takes 60 to 120 µs.
struct AdaptiveSearch {
  /// Whether to search before the next sleep.
  private(set) var isWorthwhile = false
  private var history = SpinHistory.none

  /// How long to search before the thread sleeps.
  private static var nanoseconds: UInt64 { 25_000 }
  /// Searches between two readings of the clock.
  private static var looksInTurn: Int { 16 }
  /// A shorter sleep, including the time to wake up, was not worth it.
  private static var shortSleep: UInt64 { 60_000 }

  /// Calls `look` until it finds something or the time is over.
  mutating func search<Found>(_ look: () -> Found?) -> Found? {
    let end = Clock.monotonicNanoseconds() + Self.nanoseconds
    repeat {
      for _ in 0..<Self.looksInTurn {
        if let found = look() {
          history = .none
          return found
        }
        spinHint()
      }
    } while Clock.monotonicNanoseconds() < end
    isWorthwhile = false
    history = history.missed()
    return nil
  }

  mutating func slept(nanoseconds: UInt64) {
    isWorthwhile = false
    guard nanoseconds < Self.shortSleep, Spin.limit > 0 else { return }
    if history.toSkip > 0 { history = history.skipped() } else { isWorthwhile = true }
  }
}

/// How long a thief waits between two looks if the owner of a queue has taken itself what the thief
/// saw there. A look takes the line of the queue's words from the owner's CPU, and the owner writes
/// it twice for each node: two queues that exchange work on one worker had half their speed while
/// another one searched. Until the thief finds work or sleeps, the pauses double, up to about 2 µs,
/// which is less than a wake-up takes.
struct ThiefPause {
  private var exponent = 0
  private var isDue = false
  private static var largest: Int { 6 }

  /// Notes that the owner was faster.
  mutating func missed() {
    if exponent < Self.largest { exponent += 1 }
    isDue = true
  }

  /// Called after a look that found nothing.
  mutating func waitIfDue() {
    guard isDue else { return }
    isDue = false
    for _ in 0..<scaled(1 << exponent, inModels: 1) { spinHint() }
  }
}

/// Since when a worker's thread is in a class below default.
struct LowPeriod {
  private let began = Clock.monotonicNanoseconds()

  /// Whether the thread may have used more than its share: it has been low for longer than a few
  /// changes of class take.
  var isLong: Bool { Clock.monotonicNanoseconds() - began > Self.shortNanoseconds }
  private static var shortNanoseconds: UInt64 { 200_000 }
}

/// Decides whether a worker's thread should be prompt: have a short slice, so that the kernel runs
/// it as soon as it wakes up (ThreadPolicy/ClassEffects). A turn is what a worker does between two
/// sleeps. It is seldom and brief if the sleep before was long, it ran one node, and no tick of the
/// coarse clock passed. So a turn of a tick, some milliseconds, never counts as brief. A turn of 40
/// µs passes a tick once in a hundred times. A worker whose turns are mostly seldom and brief
/// becomes prompt. One that computes for long does not: the kernel would interrupt it at each of
/// its short slices. Nor does one that is woken often: where no CPU is free it would interrupt the
/// thread that submits, at each item, instead of running all of them when that thread sleeps or its
/// slice ends. Each change takes some microseconds in the kernel, so it takes several turns of the
/// other kind.
struct PromptTurns {
  private(set) var isPrompt = false
  private var score = 0
  /// When the turn began, by the coarse clock; `nil`: it is noted already, or the thread is new.
  var began: UInt64?

  static var most: Int { 8 }

  /// Notes the end of a turn. Returns whether `isPrompt` has changed. `isForOne`: the sleep before
  /// it was long, and it ran at most one node.
  mutating func ended(isForOne: Bool, at now: UInt64) -> Bool {
    guard let began else { return false }
    self.began = nil
    score = max(0, min(Self.most, score + (isForOne && began == now ? 1 : -1)))
    guard score == (isPrompt ? 0 : Self.most) else { return false }
    isPrompt.toggle()
    return true
  }
}
