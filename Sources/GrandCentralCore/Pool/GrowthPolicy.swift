// Room: Pool/GrowthPolicy. Decides which workers count as active, and how many workers and threads
// there may be.
// Invariant, the law: work that may run starts within a bounded time, whatever the running items do;
// and as long as items end, no more of them run than the width.
// The monitor looks at the pool once a millisecond while work waits. It passes to this value what it
// saw, and carries out what this value answers. There is no clock, lock or system call here, so the
// promises are tested in virtual time (GrowthPolicyTests, GrowthSimulation). `Thresholds` is the
// table of every number.
//
// A worker with an item counts as active, except one that is
//   resting   It used little CPU since the last look and the kernel says that it sleeps: in
//             read(2), on a lock, between two polls. It counts again when it uses much.
//   overdue   It has been at the same item for long: it computes, yields or spins. It counts again
//             when the item ends. Activations of lanes are overdue after milliseconds, items of
//             concurrent and global queues after a second.
// A worker that rests but has begun an item since the last look is `light`. It counts, and the
// allowance grows by one for each: so the number of workers follows the demand for CPUs where items
// nap.
//
// Beyond the allowance there are
//   workers for lanes   while the oldest lane has waited for `lanePatience`: one, and more as lanes
//                       are overdue; idle ones at once if a lane was overdue lately
//   a worker for items  while fewer items than the width are at work and none was taken for
//                       `itemPatience`
//   workers for items   while as many as the width are overdue and none was taken. Nothing tells an
//                       endless item from a long one, so a few get threads soon, and more only as
//                       fast as one of them would end that takes a second of CPU time.
//
// Threads: `softThreads` for items and `softThreadsForLanes` while lanes wait, as fast as workers
// rest or are overdue. More, up to `mostThreads`, only while nothing at all was taken for a while:
// for lanes whatever the workers do, for items only if all of them rest. Then items probably wait
// for queued ones.

struct GrowthPolicy {
  /// The numbers of the policy. A period is the time between two looks, nominally a millisecond.
  struct Thresholds {
    /// A worker rests below 1/restingShare of a CPU while it sleeps …
    var restingShare: UInt64 = 4
    /// … and until it uses more than 1/wakingShare of one, or is found running …
    var wakingShare: UInt64 = 2
    /// … when the resting ones together use more than 1/suspicionShare of the CPUs. Then a look
    /// reads the states of so many.
    var suspicionShare: UInt64 = 2
    var statesRead = 16
    /// How long an item in a lane takes until it is overdue; and while others are overdue. In CPU
    /// time, of which a part of the time that passes is the least: a loaded machine must not turn
    /// short items into endless ones.
    var overdueLane: UInt64 = 4_000_000
    var nextOverdueLane: UInt64 = 1_000_000
    var leastLaneShare: UInt64 = 4
    /// The same for an item of a concurrent or global queue.
    var overdueItem: UInt64 = 1_000_000_000
    var leastItemShare: UInt64 = 4
    /// Items that hold threads are few up to here, or to twice the width. Beyond, the pool grows
    /// for items slowly.
    var fewItems = 24
    /// While as many items as the width are overdue: how long no item is taken before workers come
    /// for more, and what part of those held that is. If they are not few, the time is CPU time of
    /// each, so that items that end do so before, however many share the CPUs.
    var fewUntaken: UInt64 = 25_000_000
    var fewGrowth = 2
    var manyUntaken: UInt64 = 1_000_000_000
    var manyGrowth = 4
    /// Neither is overdue before it has run for that many times as long as any of its kind that
    /// ended lately …
    var endedFactor: UInt64 = 2
    /// … but no later than this.
    var latestOverdueLane: UInt64 = 8_000_000
    var latestOverdueItem: UInt64 = 4_000_000_000
    /// Each look forgets one part in so many of the longest that ended.
    var forgetting: UInt64 = 8192
    /// Each look finds at most max(1, overdue already / overdueGrowth) overdue, and at most
    /// mostAtOnce.
    var overdueGrowth = 2
    var mostAtOnce = 64
    /// What a light worker adds to the allowance, and the part of that which a look takes back:
    /// 1/lightDecay.
    var lightShare = 1
    var lightDecay = 4
    /// CPUs are scarce while as many workers as the width are busy, and all use 1/scarceShare of
    /// that together.
    var scarceShare: UInt64 = 2
    /// How long the oldest lane waits before workers come beyond the allowance.
    var lanePatience: UInt64 = 2_000_000
    /// For how long a lane gets an idle worker at once after others were overdue.
    var overcommitting: UInt64 = 1_000_000_000
    /// How long no item is taken, with fewer items than the width at work, before one comes beyond
    /// the allowance.
    var itemPatience: UInt64 = 8_000_000
    /// Looks in a row in which nothing was taken, and all workers rested, before the soft limits
    /// give way; the same if every worker announced that it sleeps.
    var stalledLooks = 100
    var stalledLooksIfAnnounced = 2
    /// How long nothing is taken before the limit for lanes gives way though workers compute: many
    /// that share few CPUs may take so long to end.
    var untakenForLanes: UInt64 = 4_000_000_000
    /// What is added then: 1/growth of the threads; half of them if every worker announced that it
    /// sleeps.
    var growth = 4
    var growthIfAnnounced = 2
    /// A thread whose state cannot be read sleeps after so many looks without CPU time.
    var silentLooks = 20
    /// How long nothing is taken before reports: at the last limit, and of a queue that holds
    /// `heldThreads`, or if the system refuses threads.
    var limitReport: UInt64 = 20_000_000
    var heldReport: UInt64 = 2_000_000_000
    var heldThreads = 64
  }

  /// What the policy remembers of a worker from look to look.
  struct Record {
    /// Why the worker does not count. Meaningful while the pool does not count it.
    enum Mark { case none, resting, overdueLane, overdueItem }
    var mark = Mark.none
    var progress: UInt32 = 0
    /// How long it has been at its item, without the time that it rested; and of what kind that is.
    var busy: UInt64 = 0
    var isInLane = false
    var silentLooks = 0
  }

  enum Verdict { case keep, stopCounting, count }

  let thresholds: Thresholds
  let limits: Limits
  /// What all looks together have led to.
  private var extra = 0
  private var beyond = 0
  var width = 1
  var lookNumber = 0
  var lastElapsed: UInt64 = 0
  private var threads: Int
  private var threadsForLanes: Int
  var longestEndedLane: UInt64 = 0
  var longestEndedItem: UInt64 = 0
  /// How long ago a lane was overdue; `nil`: none was.
  private var overdueLanesAgo: UInt64?
  private var stalledLooks = 0
  private var untaken: UInt64 = 0
  /// How often `threadsForLanes` grows in the time that nothing is taken: the next time is so many
  /// times the first.
  private var steps: UInt64 = 1
  var last = Look()
  var look = Look()

  /// What one look found.
  struct Look {
    var announced = 0
    var resting = 0
    var light = 0
    /// Counted and not light.
    var busy = 0
    /// Counted, and not in a lane.
    var itemsAtWork = 0
    /// Not in a lane, counted or not.
    var itemsHeld = 0
    var overdueLanes = 0
    var overdueItems = 0
    /// Found overdue in this very look.
    var newLanes = 0
    var newItems = 0
    var hasProgress = false
    /// CPU time of all workers.
    var used: UInt64 = 0
    /// CPU time of those that rest, and how many of them used any.
    var usedResting: UInt64 = 0
    var suspects = 0
    var overdue: Int { overdueLanes + overdueItems }
  }

  init(limits: Limits, firstThreads: Int, thresholds: Thresholds = Thresholds()) {
    self.thresholds = thresholds
    self.limits = limits
    threads = firstThreads
    threadsForLanes = limits.softThreadsForLanes
  }

  // MARK: One look: begin(), see() or seeAnnounced() for each worker (GrowthPolicy+Counting),
  // decide()

  mutating func begin() {
    last = look
    look = Look()
    lookNumber &+= 1
  }

  // MARK: What follows from a look

  /// `elapsed`: the time since the last look.
  mutating func decide(_ waiting: Waiting, _ books: Books, elapsed: UInt64) -> Decision {
    longestEndedLane -= longestEndedLane / thresholds.forgetting
    longestEndedItem -= longestEndedItem / thresholds.forgetting
    width = books.width
    lastElapsed = elapsed
    let isUntaken = waiting.hasWork && !look.hasProgress
    untaken = isUntaken ? untaken + elapsed : 0
    if !isUntaken { steps = 1 }
    stalledLooks = isUntaken && look.busy == 0 && look.overdue == 0 ? stalledLooks + 1 : 0
    // Workers that wait for a CPU are busy; on a loaded machine so are those that hardly use one.
    let isScarce =
      look.busy >= books.width
      && look.used * thresholds.scarceShare >= UInt64(books.width) * elapsed
    followLight(waiting, books, isScarce: isScarce)
    let laneWaits = (waiting.oldestLane ?? 0) >= thresholds.lanePatience
    beyond = laneWaits ? 1 + look.overdueLanes / thresholds.overdueGrowth : 0
    if laneWaits && !isScarce { beyond += look.resting + look.light }
    // Items at work beyond the width do not hold up lanes.
    beyond += max(0, look.itemsAtWork - books.width)
    let allowance = books.width + extra
    if waiting.hasWork { growThreads(books, allowance: allowance) }
    var decision = Decision(
      allowance: allowance, lanesBeyond: beyond, threads: threads,
      threadsForLanes: max(threads, threadsForLanes))
    overdueLanesAgo = look.overdueLanes > 0 ? 0 : overdueLanesAgo.map { $0 + elapsed }
    decision.lanesOvercommit = (overdueLanesAgo ?? .max) < thresholds.overcommitting
    if laneWaits {
      decision.lanesToSend = min(
        thresholds.mostAtOnce, max(0, allowance + beyond - books.active))
    }
    decision.itemsToSend = itemsToSend(waiting, books)
    decision.report = report(books)
    return decision
  }

  /// Active workers beyond the width: as many as begin items and rest in them, twice as many in
  /// each look while CPUs are not scarce, none while they are.
  private mutating func followLight(_ waiting: Waiting, _ books: Books, isScarce: Bool) {
    let tooMany = isScarce ? look.busy - books.width - beyond : 0
    if !waiting.hasWork {
      extra = 0
    } else if tooMany > 0 {
      extra = max(0, extra - tooMany)
    } else {
      let decayed = extra - (extra + thresholds.lightDecay - 1) / thresholds.lightDecay
      let free = isScarce ? 0 : min(look.resting, limits.softThreads - look.resting)
      extra = min(limits.softThreads, max(look.light * thresholds.lightShare, decayed, free))
    }
  }

  private func itemsToSend(_ waiting: Waiting, _ books: Books) -> Int {
    guard let untaken = waiting.itemsUntaken, look.itemsHeld < limits.softThreads else { return 0 }
    if look.itemsAtWork < books.width { return untaken >= thresholds.itemPatience ? 1 : 0 }
    guard look.overdueItems >= books.width, untaken >= likelyEnd else { return 0 }
    let held = look.itemsHeld
    let areFew = held < fewItems
    let patience =
      areFew
      ? thresholds.fewUntaken
      : thresholds.manyUntaken * UInt64(look.itemsAtWork + look.overdueItems) / UInt64(books.width)
    guard untaken >= patience else { return 0 }
    let more = held / (areFew ? thresholds.fewGrowth : thresholds.manyGrowth)
    let limit = areFew ? min(fewItems, limits.softThreads) : limits.softThreads
    return min(max(1, more), limit - held)
  }

  private mutating func growThreads(_ books: Books, allowance: Int) {
    guard books.idle == 0 else { return }
    let isBelowAllowance = books.active < allowance
    if books.threads < limits.softThreads {
      guard isBelowAllowance else { return }
      let more = max(2, look.resting + look.announced + look.overdue)
      threads = min(limits.softThreads, books.threads + more)
      return
    }
    let areAnnounced = look.resting == 0
    let patience = areAnnounced ? thresholds.stalledLooksIfAnnounced : thresholds.stalledLooks
    if isBelowAllowance && stalledLooks >= patience {
      stalledLooks = 0
      threads = grown(
        books.threads, areAnnounced ? thresholds.growthIfAnnounced : thresholds.growth)
    }
    if books.threads >= threadsForLanes && untaken >= thresholds.untakenForLanes * steps {
      steps += 1
      threadsForLanes = grown(books.threads, thresholds.growth)
    }
  }

  private func grown(_ count: Int, _ part: Int) -> Int {
    min(limits.mostThreads, count + max(1, count / part))
  }

  private func report(_ books: Books) -> Report? {
    if books.threads >= limits.mostThreads && books.idle == 0 {
      let allRest = look.busy + look.overdue == 0
      return untaken >= (allRest ? thresholds.limitReport : thresholds.heldReport) ? .limit : nil
    }
    guard untaken >= thresholds.heldReport else { return nil }
    if books.isRefused { return .refused }
    return books.threads >= thresholds.heldThreads ? .held : nil
  }
}
