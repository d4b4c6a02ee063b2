// Room: Pool/LaneTurn. How long a worker stays with one lane while other work waits.
// A lane may have items without end: each submits the next, or other threads submit faster than
// they run. As many such lanes as the width would keep all workers, and what waits would begin only
// when a drain ends by its quota, or by the monitor: after milliseconds, over and over. A thread
// for each lane, as the C library makes, lets the kernel share the CPUs. Here the drain acts,
// between two items:
//   - If other work of its class or above waits, the drain ends after `nanoseconds` and the item
//     that runs then. While many workers sleep, only if lanes do, which use no CPU meanwhile, or
//     for work above its class; and that not behind long items while more workers are active than
//     allowed: another one is woken for such work and preempts them, and the lane that gave way
//     would go to a further worker, which computes beside all of these. Its lane goes behind what
//     waits in the injector. Then the worker prefers items for as long: if the kinds took turns by
//     number alone, each item would wait for the whole turn of a lane.
//   - If items or lanes of a lower class from default up wait, and none of that class runs, the
//     drain sends a worker beyond the allowance, as the monitor does later for more classes
//     (Pool+Classes). Such a class is often not the program's choice: what the main thread submits
//     is user-initiated. Classes below default wait for the monitor (Starvation).
// The drainer reads no clock while nothing waits. What waits in the injectors it sees before each
// item, in one word; what waits in its own local queues, before every eighth.
import CGrandCentralLinux

struct LaneTurn {
  static var nanoseconds: UInt64 { 50_000 }
  /// An item during which other work has waited for longer is long.
  static var longItem: UInt64 { 200_000 }
  /// When this drain first saw that other work waits, or last sent a worker; 0: not yet.
  private var began: UInt64 = 0

  /// Whether the drain ends before its next item, the `left`th from its quota's end. Called by the
  /// drainer. On a worker it then requests the drains outside this one to give way, too.
  @inline(__always)
  mutating func isOver(left: Int, on thread: ThreadContext) -> Bool {
    if gc_gives_way(thread) { return true }
    guard let raw = thread.pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { worker in
      let waiting = worker.pool.hints.waiting
      if waiting.isEmpty && (left & 7 != 0 || !worker.hasLocalWork) { return false }
      return ends(on: worker, waiting, thread)
    }
  }

  @inline(never)
  private mutating func ends(
    on worker: Worker, _ waiting: InjectorSet, _ thread: ThreadContext
  ) -> Bool {
    let own = worker.band
    let isOfClass = max(waiting.highestBand, worker.bandInLocalQueues) >= own
    let lower = waiting.highestBand(below: own)
    guard isOfClass || lower >= .default else { return false }
    let now = Clock.monotonicNanoseconds()
    if began == 0 { began = now }
    let seenFor = now &- began
    guard seenFor >= Self.nanoseconds else { return false }
    began = now
    let pool = worker.pool
    if lower >= .default { pool.boostUnused(lower, waiting) }
    // A worker that was sent for a class stays with it.
    guard isOfClass, worker.starvedTurn == nil else { return false }
    guard endsForWaiting(on: worker, waiting, isShort: seenFor < Self.longItem) else {
      began = 0
      return false
    }
    worker.turnOfItems = now
    gc_give_way(thread)
    return true
  }

  private func endsForWaiting(on worker: Worker, _ waiting: InjectorSet, isShort: Bool) -> Bool {
    let (pool, own) = (worker.pool, worker.band)
    // Under stress lanes come first (WorkKind), but where lanes sleep and the CPUs are free.
    if pool.isStressed && !pool.lanesRest {
      guard isShort || pool.beyondAllowance <= 0, let above = Band(rawValue: own.rawValue + 1)
      else { return false }
      return worker.bandInLocalQueues > own || pool.hasNode(in: waiting.from(above))
    }
    return worker.bandInLocalQueues >= own || pool.hasNode(in: waiting.from(own))
  }
}

extension Pool {
  /// Sends a worker for work of that kind and band if none has such work, blocked or on its way,
  /// and not too many are active already: on a loaded machine a worker may take long to begin. The
  /// monitor, and drains. Returns whether a worker was sent.
  // relaxed: hints. Threads that look at the same time may send one each.
  func boostIfUnused(_ key: InjectorKey) -> Bool {
    let seen = state.load(ordering: .relaxed)
    // A worker that was sent searches until it begins. Lanes that rest count as active until a
    // look finds them.
    guard seen.searching == 0, seen.active < mostBehindLanes || lanesRest, !hasWorker(at: key)
    else { return false }
    return boost(key)
  }

  /// The same for both kinds of `band`, by what was seen in the injectors.
  fileprivate func boostUnused(_ band: Band, _ waiting: InjectorSet) {
    for kind in WorkKind.allCases {
      let key = InjectorKey(kind: kind, band: band)
      if waiting.contains(key), hasNode(in: InjectorSet(key)) { _ = boostIfUnused(key) }
    }
  }

  /// Returns an item for a worker on which a lane has given way. `nil`: the turn of items is over,
  /// none waits, or a lane of a higher class does. Under stress lanes come first.
  @inline(never)
  func takeItemInTurn(for worker: Worker) -> WorkNode? {
    if !isStressed, worker.starvedTurn == nil,
      Clock.monotonicNanoseconds() &- worker.turnOfItems < LaneTurn.nanoseconds,
      let node = itemInTurn(for: worker)
    {
      _ = nextPick(of: worker)
      return node
    }
    worker.turnOfItems = 0
    return nil
  }

  private func itemInTurn(for worker: Worker) -> WorkNode? {
    let beyond = beyondAllowance
    if beyond > 0 {
      // In place of a lane only, and no more of them than other workers take so.
      return beyond <= workersForLanes ? takeBesideLanes(for: worker, isBeyond: true) : nil
    }
    let waiting = hints.waiting
    let (own, injected) = (worker.bandInLocalQueue(.items), waiting.highestBand(of: .items))
    let lanes = max(worker.bandInLocalQueue(.lanes), waiting.highestBand(of: .lanes))
    let items = max(own, injected)
    guard items != .unspecified, items >= lanes else { return nil }
    // The lane itself, if it targets a concurrent queue, is an item of the worker now.
    let key = InjectorKey(kind: .items, band: injected)
    if injected == items, let node = takeShare(of: key, for: worker) { return node }
    return own == items ? takeOwn(.items, for: worker) : nil
  }
}
