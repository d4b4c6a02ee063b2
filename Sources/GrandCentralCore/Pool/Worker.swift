// Room: Pool/Worker. One thread of the pool, and what others may know of it.
// Workers live as long as their pool: the record of a thread that left is taken by the next one, so a thief
// or the monitor may hold on to one at any time.

final class Worker: @unchecked Sendable {
  let index: Int
  private let items = Ring()
  private let lanes = Ring()

  func ring(_ kind: WorkKind) -> Ring { kind == .items ? items : lanes }
  var hasRings: Bool { !items.isEmpty || !lanes.isEmpty }

  /// What the pool counts this worker as.
  ///   away ─start→ running ─announce→ announced ─back→ running
  ///   running ─monitor→ uncounted ─back, or monitor→ running      running ─park→ away
  enum Status: UInt8, AtomicRepresentable {
    /// Parked, or no thread at all.
    case away
    case running
    /// Its item sleeps in one of our own waits, and is not counted active.
    case announced
    /// The monitor found that its item rests or is overdue (GrowthPolicy); not counted active
    /// either.
    case uncounted
  }
  let status = Atomic<Status>(.away)
  /// Counts what the worker took from the pool.
  let picks = Atomic<UInt32>(0)
  /// Whether it took an activation of a lane last. For the monitor; relaxed, a hint.
  let isInLane = Atomic<Bool>(false)
  let threadID = Atomic<UInt32>(0)

  /// The pool it belongs to, which lives longer.
  unowned(unsafe) let pool: Pool

  /// The thread that has this record, as its context's address; set before it is first idle.
  /// Releasing and acquiring: where the context's shared part is comes with its address.
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

  /// Waits elsewhere than on the idle stack: see Pool+Guest.swift.
  let isGuest: Bool

  // Owner only.
  var band = Band.unspecified
  /// The same for others; relaxed, a hint.
  let visibleBand = Atomic<UInt8>(0)
  var isSearching = false
  var patience = Patience()
  @Cell var name = WorkerName()
  /// How many nodes it takes next from an injector: 1, 2, 4 … as long as its items do not sleep.
  /// What lies in the ring of a worker that sleeps begins later than what came after it.
  private(set) var refill = Worker.leastRefill
  private static var leastRefill: Int { scaled(1, inModels: 64) }
  private static var mostRefill: Int { 64 }

  func grewRefill() { refill = min(Self.mostRefill, 2 * refill) }
  func shrankRefill() { refill = Self.leastRefill }

  /// A node that a submitter gave to this worker with its wake-up. Written by whoever took the worker off
  /// the idle stack, before the grant; read by the worker after it.
  @Cell private var handed: (node: WorkNode, band: Band)? = nil

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

  /// The thread that the monitor saw last with this record: when, and what CPU time it had used.
  struct LastLook {
    var thread: UInt32 = 0
    var nanoseconds: UInt64 = 0
    var cpuNanoseconds: Int64 = 0
  }

  /// `guest`: what a guest's thread is called.
  init(index: Int, pool: Pool, guest: String? = nil) {
    self.index = index
    self.pool = pool
    isGuest = guest != nil
    plainName = ThreadName(guest ?? "gc-worker-\(index)")
  }

  /// In a child that was forked. `isHere`: its thread is the one that forked, and runs an item.
  func afterFork(isHere: Bool) {
    items.clear()
    lanes.clear()
    handed = nil
    isOnIdleStack = false
    status.store(isHere ? .running : .away, ordering: .relaxed)
    threadID.store(isHere ? thread?.pointee.tid ?? 0 : 0, ordering: .relaxed)
    if isHere { return }
    isNamedByMonitor.store(false, ordering: .relaxed)
    name = WorkerName()
    thread = nil
    band = .unspecified
    visibleBand.store(0, ordering: .relaxed)
    isSearching = false
  }

  deinit {
    items.dismantle()
    lanes.dismantle()
  }
}
