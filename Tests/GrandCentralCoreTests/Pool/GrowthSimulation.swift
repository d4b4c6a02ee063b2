// A machine in virtual time, with a pool that obeys GrowthPolicy and items that follow scripts. It
// models the pool in the simplest form: workers take waiting work while the policy allows it, and
// step back when it does not.
@testable import GrandCentralCore

/// One step of an item.
enum Step {
  case compute(milliseconds: Double)
  /// The same, but the thread waits for a lock for a moment after each 0.3 ms of CPU time.
  case computeLocking(milliseconds: Double)
  case sleep(milliseconds: Double)
  /// Waits in the engine, announced by the worker, until that many items have begun.
  case awaitBegun(Int)
  /// The same, until that many items have ended.
  case awaitEnded(Int)
  /// Polls, sleeping a third of a millisecond each time, until that many items have begun.
  case pollBegun(Int)
  /// Polls with naps so short that on a loaded machine the thread always waits for a CPU, until
  /// that many items have begun.
  case napBegun(Int)
  /// Spins until that many items have begun.
  case spinBegun(Int)
  static var forever: Int { .max }
}

struct Script {
  var kind: WorkKind
  var steps: [Step]
  init(_ kind: WorkKind, _ steps: Step...) {
    self.kind = kind
    self.steps = steps
  }
}

struct GrowthSimulation {
  static let tick: UInt64 = 200_000
  private static let ticksInLook = 5

  let width: Int
  /// The number of CPUs; `load` is the number of other programs' threads that compute on them.
  let cpus: Int
  var load = 0
  /// Whether lanes get workers as LanesBehindOthers says.
  var hasLanesBehindOthers = false
  /// The number of threads that the system grants.
  var maxThreads = 1000

  private(set) var policy: GrowthPolicy
  private(set) var now: UInt64 = 0
  private(set) var begun: [UInt64?] = []
  private(set) var ended = 0
  private(set) var maxThreadsSeen = 0
  private(set) var maxAtWork = 0
  private(set) var reports: [GrowthPolicy.Report] = []

  private var scripts: [Script] = []
  private var waiting: [WorkKind: [Int]] = [.items: [], .lanes: []]
  private var came: [WorkKind: UInt32] = [.items: 0, .lanes: 0]
  private var went: [WorkKind: UInt32] = [.items: 0, .lanes: 0]
  private var clock = WaitClock()
  private var untaken: (went: UInt32, time: UInt64) = (0, 0)
  private var workers: [SimulatedWorker] = []
  private var allowance: Int
  private var lanesBeyond = 0
  private var lanesBehindOthers = LanesBehindOthers()
  private var threadAllowance: Int
  private var turn = 0
  private var firstThreads: Int { 2 * width + 2 }

  init(
    width: Int = 2, cpus: Int? = nil, softThreads: Int = 64,
    thresholds: GrowthPolicy.Thresholds = .init()
  ) {
    self.width = width
    self.cpus = cpus ?? width
    allowance = width
    threadAllowance = 2 * width + 2
    policy = GrowthPolicy(
      limits: GrowthPolicy.Limits(
        softThreads: softThreads, softThreadsForLanes: 4 * softThreads, maxThreads: 1000),
      firstThreads: 2 * width + 2, thresholds: thresholds)
  }

  var milliseconds: Double { Double(now) / 1e6 }
  var waitingCount: Int { waiting.values.map(\.count).reduce(0, +) }
  var begunCount: Int { went[.items, default: 0].asInt + went[.lanes, default: 0].asInt }

  /// Adds an item. Returns its number, which is its index in `begun`.
  @discardableResult
  mutating func submit(_ script: Script) -> Int {
    scripts.append(script)
    begun.append(nil)
    waiting[script.kind, default: []].append(scripts.count - 1)
    came[script.kind, default: 0] += 1
    return scripts.count - 1
  }

  mutating func submit(_ count: Int, _ script: Script) { for _ in 0..<count { submit(script) } }

  /// Lets time pass until `condition` holds, or for `milliseconds`. Returns whether it holds.
  @discardableResult
  mutating func run(
    milliseconds: Double, until condition: (GrowthSimulation) -> Bool = { _ in false }
  ) -> Bool {
    let end = now + UInt64(milliseconds * 1e6)
    while now < end {
      if condition(self) { return true }
      wake()
      execute()
      now += Self.tick
      if now / Self.tick % UInt64(Self.ticksInLook) == 0 { look() }
    }
    return condition(self)
  }

  mutating func forgetPeaks() {
    maxAtWork = 0
    maxThreadsSeen = 0
  }

  /// The time until an item begins, in milliseconds; `nil` if it has not begun.
  mutating func delay(ofProbe kind: WorkKind, within milliseconds: Double) -> Double? {
    let since = now
    let probe = submit(Script(kind, .compute(milliseconds: 0.1)))
    run(milliseconds: milliseconds) { $0.begun[probe] != nil }
    return begun[probe].map { Double($0 - since) / 1e6 }
  }

  // MARK: The pool

  private var active: Int { workers.filter { $0.status == .counted }.count }
  private var idle: Int { workers.filter { $0.status == .idle }.count }
  private var hasWork: Bool { waiting.values.contains { !$0.isEmpty } }

  private var workersBehindOthers: Int {
    hasLanesBehindOthers ? lanesBehindOthers.count(width: width, at: now) : 0
  }

  /// Wakes and creates workers up to the allowance.
  private mutating func wake() {
    while hasWork, active < allowance, start(nil, maxThreads: threadAllowance) {}
    let others = workersBehindOthers
    while others > 0, active < allowance + others,
      start(.lanes, maxThreads: firstThreads + 4 * width)
    {}
    maxThreadsSeen = max(maxThreadsSeen, workers.count)
  }

  /// Starts one more worker, with the oldest work of that kind; `nil` means any kind.
  private mutating func start(_ kind: WorkKind?, maxThreads limit: Int) -> Bool {
    if let kind, (waiting[kind] ?? []).isEmpty { return false }
    if workers.allSatisfy({ $0.status != .idle }) {
      guard workers.count < min(limit, maxThreads) else { return false }
      workers.append(SimulatedWorker())
    }
    guard let index = workers.firstIndex(where: { $0.status == .idle }) else { return false }
    return take(kind, for: index)
  }

  private mutating func take(_ kind: WorkKind?, for index: Int) -> Bool {
    turn += 1
    let first = kind ?? WorkKind.first(atPick: UInt32(turn))
    let choices = kind == nil ? [first, first.other] : [first]
    for kind in choices where !(waiting[kind] ?? []).isEmpty {
      guard let item = waiting[kind]?.removeFirst() else { continue }
      went[kind, default: 0] += 1
      begun[item] = now
      workers[index].begin(scripts[item])
      return true
    }
    return false
  }

  private mutating func finish(_ index: Int) {
    ended += 1
    workers[index].status = .counted
    let beyond = active - allowance
    let lanesBeyond = max(lanesBeyond, workersBehindOthers)
    let isTaken =
      beyond <= 0 ? take(nil, for: index) : beyond <= lanesBeyond && take(.lanes, for: index)
    if !isTaken { workers[index].status = .idle }
  }

  // MARK: The machine

  /// Runs one tick: the runnable threads share the CPUs.
  private mutating func execute() {
    let begun = begunCount
    var runnable: [Int] = []
    for (index, worker) in workers.enumerated() {
      worker.reconsider(begun: begun, ended: ended, now: now)
      if worker.wantsCPU { runnable.append(index) }
    }
    maxAtWork = max(maxAtWork, runnable.count)
    // All runnable threads, including those of other programs, have the same share.
    let share = Double(cpus) / Double(max(cpus, runnable.count + load))
    for index in runnable where workers[index].run(share, tick: Self.tick) { finish(index) }
    for index in workers.indices where workers[index].isAtEnd { finish(index) }
  }

  // MARK: The monitor

  private mutating func look() {
    let period = Self.tick * UInt64(Self.ticksInLook)
    policy.begin()
    let usedSince = workers.map { $0.used - $0.lastUsed }.reduce(0, +)
    for index in workers.indices { see(index, elapsed: period) }
    let lanes = (came[.lanes, default: 0], went[.lanes, default: 0])
    let oldest = clock.look(came: lanes.0, went: lanes.1, elapsed: period)
    let decision = policy.decide(
      GrowthPolicy.Waiting(
        hasWork: hasWork, oldestLane: oldest, oldestUrgentLane: oldest,
        itemsUntaken: itemsUntaken(elapsed: period)),
      GrowthPolicy.Books(
        width: width, threads: workers.count, idle: idle, active: active,
        usedPerSecond: usedSince * 1_000_000_000 / period, isRefused: workers.count >= maxThreads),
      elapsed: period)
    allowance = width + decision.beyondWidth
    lanesBeyond = decision.lanesBeyond
    lanesBehindOthers.note(decision.lanesBehindOthers, at: now)
    threadAllowance = decision.threads
    for _ in 0..<decision.lanesToSend {
      guard start(.lanes, maxThreads: decision.threadsForLanes) else { break }
    }
    for _ in 0..<decision.itemsToSend { _ = start(.items, maxThreads: 1000) }
    if let report = decision.report { reports.append(report) }
  }

  private mutating func see(_ index: Int, elapsed: UInt64) {
    let worker = workers[index]
    switch worker.status {
    case .idle: return
    case .announced:
      policy.seeAnnounced(
        isInLane: worker.isInLane, hasPicked: worker.picks != worker.lastPicks)
      worker.lastPicks = worker.picks
      return
    case .counted, .uncounted: break
    }
    var record = worker.record
    let sight = GrowthPolicy.Sight(
      isCounted: worker.status == .counted, isInLane: worker.isInLane, progress: worker.picks,
      used: worker.used - worker.lastUsed, elapsed: elapsed)
    let verdict = policy.see(sight, &record) {
      worker.wantsCPU ? .runnable(sleeps: worker.sleeps) : .asleep
    }
    workers[index].record = record
    workers[index].lastUsed = worker.used
    switch verdict {
    case .keep: break
    case .stopCounting: workers[index].status = .uncounted
    case .count: workers[index].status = .counted
    }
  }

  private mutating func itemsUntaken(elapsed: UInt64) -> UInt64? {
    let (came, went) = (came[.items, default: 0], went[.items, default: 0])
    defer { untaken.went = went }
    guard came != went else {
      untaken.time = 0
      return nil
    }
    untaken.time = untaken.went == went ? untaken.time + elapsed : 0
    return untaken.time
  }
}

private final class SimulatedWorker {
  enum Status { case idle, counted, uncounted, announced }
  var status = Status.idle
  var isInLane = false
  var picks: UInt32 = 0
  /// Only of looks that found it waiting; a pick is noted elsewhere otherwise.
  var lastPicks: UInt32 = 0
  var used: UInt64 = 0
  var lastUsed: UInt64 = 0
  var record = GrowthPolicy.Record()
  fileprivate var steps: [Step] = []
  fileprivate var place = 0
  /// The CPU time that the step still needs; `wakesAt` is the time when its sleep ends.
  fileprivate var left: UInt64 = 0
  private var wakesAt: UInt64 = 0
  private(set) var wantsCPU = false
  /// How often the thread has slept, and the items that it last saw begun.
  fileprivate(set) var sleeps: UInt64 = 0
  fileprivate var seenBegun = 0

  /// Whether the worker reached the end of its item while it did not run.
  var isAtEnd: Bool { status != .idle && place >= steps.count }

  func begin(_ script: Script) {
    status = .counted
    isInLane = script.kind == .lanes
    picks += 1
    steps = script.steps
    place = 0
    left = 0
    wakesAt = 0
    wantsCPU = if case .compute = steps[0] { true } else { false }
    // The CPU time of waking a thread, in nanoseconds.
    used += 5_000
  }

  /// Updates the state of the current step.
  func reconsider(begun: Int, ended: Int, now: UInt64) {
    wantsCPU = false
    guard status != .idle, place < steps.count else { return }
    switch steps[place] {
    case .compute(let milliseconds), .computeLocking(let milliseconds):
      if left == 0 { left = max(1, UInt64(milliseconds * 1e6)) }
      wantsCPU = true
    case .sleep(let milliseconds):
      if wakesAt == 0 { wakesAt = now + UInt64(milliseconds * 1e6) }
      if now >= wakesAt { next() }
    case .awaitBegun(let count): awaitAnnounced(isOver: begun >= count)
    case .awaitEnded(let count): awaitAnnounced(isOver: ended >= count)
    case .pollBegun(let count):
      used += GrowthSimulation.tick / 20
      if begun >= count { next() }
    case .napBegun:
      seenBegun = begun
      wantsCPU = true
    case .spinBegun(let count):
      if begun >= count { next() } else { wantsCPU = true }
    }
  }

  private func awaitAnnounced(isOver: Bool) {
    status = isOver ? .counted : .announced
    if isOver { next() }
  }

  fileprivate func next() {
    place += 1
    left = 0
    wakesAt = 0
  }

  /// Runs for a fraction of a tick. Returns whether the item has ended.
  func run(_ part: Double, tick: UInt64) -> Bool {
    let time = UInt64(part * Double(tick))
    if case .napBegun(let count) = steps[place] { return nap(count, after: time, tick: tick) }
    used += time
    switch steps[place] {
    case .compute: break
    case .computeLocking: sleeps += used / 300_000 - (used - time) / 300_000
    default: return false
    }
    left = left > time ? left - time : 0
    if left == 0 { next() }
    return place >= steps.count
  }
}

extension SimulatedWorker {
  /// Waits for as long as the other threads take for a tick each, polls once, and naps for less
  /// than a tick. Returns whether the item has ended.
  fileprivate func nap(_ count: Int, after time: UInt64, tick: UInt64) -> Bool {
    left += time
    guard left >= tick else { return false }
    left = 0
    used += tick / 12
    sleeps += 1
    if seenBegun >= count { next() }
    return place >= steps.count
  }
}

extension UInt32 {
  fileprivate var asInt: Int { Int(self) }
}
