// Room: Pool/GrowthPolicy. Decides which workers count as active, and limits workers and threads.
// Invariant: runnable work starts within a bounded time, whatever the running items do; and while
// items end, no more of them run than the width.
// While work waits, the monitor looks at the pool once a millisecond. It passes what it saw to this
// value, and carries out the returned decision. There is no clock, lock or system call here, so the
// promises are tested in virtual time (GrowthPolicyTests, GrowthSimulation). `Thresholds` is the
// table of every number.
//
// A worker with an item counts as active, with two exceptions:
//   resting   It used little CPU since the last look, and the kernel reports that it sleeps: in
//             read(2), on a lock, between two polls. So does one that waits for a CPU between two
//             naps, if it used little for each. It counts again when it uses much CPU; in the same
//             item later each time, since it may wait for what it submits again and again.
//             In mmap(2) it waits for a lock of the process, and rests only after `maxMappingWait`.
//   overdue   It has run the same item for long: it computes, yields or spins. It counts again when
//             the item ends. An activation of a lane is overdue after milliseconds, an item of a
//             concurrent or global queue after a second.
// A `light` worker rests, but has begun an item since the last look. It counts, and raises the
// allowance by one: where items nap, the number of workers follows the demand for CPUs.
//
// Beyond the allowance there are
//   workers for lanes   while the oldest lane has waited for `maxLaneWait`: one, and more as lanes
//                       are overdue; idle workers at once if a lane was overdue lately; as many as
//                       lanes rested lately (RestingLanes); and up to three widths if a lane has
//                       waited behind long items lately, or while other programs use the CPUs
//                       (LanesBehindOthers)
//   workers for items   up to the width if an item has waited behind long lanes lately
//                       (ItemsBehindLanes)
//   a worker for items  while fewer items than the width run, and none was taken for `itemPatience`
//   workers for items   while as many items as the width are overdue and none was taken. The policy
//                       cannot tell an endless item from a long one. So a few items get threads
//                       soon, and more only as fast as items of one CPU second would end: slowly,
//                       but up to `maxThreads`.
//
// The thread limits are `softThreads` for items and `softThreadsForLanes` while lanes wait; the
// number of threads grows as fast as workers rest or are overdue. It grows further, up to
// `maxThreads`, only after nothing at all was taken for a while: for lanes whatever the workers
// do, for items if all workers rest, since items then probably wait for queued ones, or if as many
// as the width are overdue, as above.

struct GrowthPolicy {
  /// Every number of the policy. Times are in nanoseconds; a look is nominally one millisecond.
  struct Thresholds {
    /// A worker rests below 1/restingShare of a CPU while the kernel reports that it sleeps, or
    /// that it has napped in the same item, and used less than `napWork` between two naps …
    var restingShare: UInt64 = 4
    var napWork: UInt64 = 100_000
    /// … and until it uses more than 1/wakingShare of one, or is found running …
    var wakingShare: UInt64 = 2
    /// … when the resting workers together use more than 1/suspicionShare of the CPUs. A look then
    /// reads the states of about `statesRead` of them.
    var suspicionShare: UInt64 = 2
    var statesRead = 16
    /// How long a worker waits for the lock of the process's mappings before it rests: others hold
    /// that lock while they compute, and longer while they wait for a CPU or a disk.
    var maxMappingWait: UInt64 = 20_000_000
    /// A worker that has rested twice in its item counts again after `firstDoubt` of CPU time, and
    /// after twice as much each further time, up to `longestDoubt`; as many such workers as the
    /// width at once.
    var firstDoubt: UInt64 = 1_000_000
    var longestDoubt: UInt64 = 16_000_000
    /// How long an item in a lane runs until it is overdue: the first one, and the next while
    /// others are overdue. Counted in CPU time, but at least 1/minLaneShare of the elapsed time:
    /// a loaded machine must not make short items overdue.
    var overdueLane: UInt64 = 4_000_000
    var nextOverdueLane: UInt64 = 1_000_000
    var minLaneShare: UInt64 = 4
    /// The same for an item of a concurrent or global queue.
    var overdueItem: UInt64 = 1_000_000_000
    var minItemShare: UInt64 = 4
    /// Items that hold threads are few up to this number, or twice the width. Beyond it the pool
    /// grows slowly for items.
    var fewItems = 24
    /// While as many items as the width are overdue: how long no item is taken before workers come
    /// for 1/fewGrowth as many as are held, or 1/manyGrowth as many as compute. With many held, the
    /// time is CPU time of each: items that end do so before, however many share the CPUs.
    var fewUntaken: UInt64 = 12_000_000
    var fewGrowth = 2
    var manyUntaken: UInt64 = 1_000_000_000
    var manyGrowth = 4
    /// An item is not overdue before it has run for this many times the longest item of its kind
    /// that ended lately …
    var endedFactor: UInt64 = 2
    /// … but is overdue at these times at the latest.
    var latestOverdueLane: UInt64 = 8_000_000
    var latestOverdueItem: UInt64 = 4_000_000_000
    /// Each look forgets 1/forgetting of that longest time.
    var forgetting: UInt64 = 8192
    /// A look marks at most max(1, already overdue / overdueGrowth) items, and at most maxAtOnce.
    var overdueGrowth = 2
    var maxAtOnce = 64
    /// What a light worker adds to the allowance; each look takes 1/lightDecay of the sum back.
    var lightShare = 1
    var lightDecay = 4
    /// CPUs are scarce while as many workers as the width are busy, and all workers together use
    /// 1/scarceShare of the width.
    var scarceShare: UInt64 = 2
    /// Others use CPUs while as many workers as the width are busy, and the process leaves more
    /// than 1/othersShare of the width unused.
    var othersShare: UInt64 = 4
    /// How long the oldest lane waits before workers come beyond the allowance.
    var maxLaneWait: UInt64 = 2_000_000
    /// Nodes that use so much CPU time in the mean are long: twice the turn of a lane (LaneTurn).
    var longNode: UInt64 = 100_000
    /// How long idle workers are woken for lanes at once after a lane was overdue.
    var overcommitting: UInt64 = 1_000_000_000
    /// How long no item is taken, with fewer items than the width at work, before a worker comes
    /// beyond the allowance.
    var itemPatience: UInt64 = 8_000_000
    /// Looks in a row in which nothing was taken and all workers rested before the soft limits
    /// yield; the same if every worker announced its sleep.
    var stalledLooks = 100
    var stalledLooksIfAnnounced = 8
    /// How long nothing is taken before the limit for lanes yields although workers compute: many
    /// items that share few CPUs may take so long to end.
    var untakenForLanes: UInt64 = 4_000_000_000
    /// The number of threads added then: 1/growth of the threads, or 1/growthIfAnnounced if every
    /// worker announced its sleep.
    var growth = 4
    var growthIfAnnounced = 2
    /// Looks without CPU time after which a thread of unreadable state counts as asleep.
    var silentLooks = 20
    /// How long nothing is taken before a report: at the final limit; and of a queue that holds
    /// `heldThreads`, or if the system refuses threads.
    var limitReport: UInt64 = 20_000_000
    var heldReport: UInt64 = 2_000_000_000
    var heldThreads = 64
  }

  /// What the policy remembers of a worker between looks.
  struct Record {
    /// Why the worker does not count. Meaningful only while the pool does not count it.
    enum Mark { case none, resting, overdueLane, overdueItem }
    var mark = Mark.none
    var progress: UInt32 = 0
    /// Time at the current item, without its rests, and the kind of that item.
    var busy: UInt64 = 0
    var isInLane = false
    var silentLooks = 0
    /// How often the thread had slept when its naps in this item began to count, and the CPU time
    /// that it has used since.
    var sleeps: UInt64?
    var usedInNaps: UInt64 = 0
    /// How often it began to rest in this item, and the CPU time since the last time, of looks in
    /// which it used much.
    var rests = 0
    var usedAwake: UInt64 = 0
    /// Whether its nodes were long when it last used CPU time.
    var hasLongNodes = false
    /// Whether the thread was runnable when its state was last read, and has not run since.
    var isRunnable = false
    /// How long looks have found it waiting for the lock of the mappings, one after the other.
    var mappingWait: UInt64 = 0

    mutating func startNaps(at count: UInt64) {
      sleeps = count
      usedInNaps = 0
    }
  }

  enum Verdict { case keep, stopCounting, count }

  let thresholds: Thresholds
  let limits: Limits
  /// The workers beyond the width, and those for lanes beyond the allowance, as of the last look.
  private var extra = 0
  private var beyond = 0
  var width = 1
  var lookNumber = 0
  var lastElapsed: UInt64 = 0
  private var threads: Int
  private var threadsForLanes: Int
  var longestEndedLane: UInt64 = 0
  var longestEndedItem: UInt64 = 0
  /// Time since a lane was last overdue; `nil`: none was.
  private var overdueLanesAgo: UInt64?
  private var stalledLooks = 0
  private var untaken: UInt64 = 0
  /// How often `threadsForLanes` has grown since something was last taken, plus one. The next
  /// growth takes that many times `untakenForLanes`.
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
    /// Those of them that wait for the lock of the process's mappings.
    var inMappings = 0
    /// Counted, and not in a lane.
    var itemsAtWork = 0
    /// Those of them whose workers have lately run long nodes.
    var longItems = 0
    /// The same for those in lanes.
    var longLanes = 0
    /// Not in a lane, counted or not.
    var itemsHeld = 0
    /// In a lane, and resting since this look, or light.
    var restingLanes = 0
    var overdueLanes = 0
    var overdueItems = 0
    /// Items that became overdue in this look.
    var newLanes = 0
    var newItems = 0
    var hasProgress = false
    /// CPU time of all workers.
    var used: UInt64 = 0
    /// CPU time of the resting workers, and how many of them used any.
    var usedResting: UInt64 = 0
    var suspects = 0
    /// Workers that do not count although they use much CPU, since they rested before.
    var doubted = 0
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

  /// Ends a look with a decision. `elapsed`: nanoseconds since the last look.
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
    let laneWaits = (waiting.oldestLane ?? 0) >= thresholds.maxLaneWait
    beyond = laneWaits ? 1 + look.overdueLanes / thresholds.overdueGrowth : 0
    if laneWaits && !isScarce { beyond += look.resting + look.light }
    // Items at work beyond the width must not delay lanes.
    beyond += max(0, look.itemsAtWork - books.width)
    let allowance = books.width + extra
    if waiting.hasWork { growThreads(books, allowance: allowance) }
    var decision = Decision(
      beyondWidth: extra, lanesBeyond: beyond, threads: threads,
      threadsForLanes: max(threads, threadsForLanes))
    overdueLanesAgo = look.overdueLanes > 0 ? 0 : overdueLanesAgo.map { $0 + elapsed }
    decision.lanesOvercommit = (overdueLanesAgo ?? .max) < thresholds.overcommitting
    decision.lanesBehindOthers = lanesBehindOthers(waiting, books)
    decision.areLanesLong = look.longLanes + look.overdueLanes >= books.width
    if laneWaits {
      decision.lanesToSend = min(
        thresholds.maxAtOnce, max(0, allowance + beyond - books.active))
    }
    decision.itemsToSend = itemsToSend(waiting, books)
    decision.isScarce = isScarce
    decision.report = report(books)
    return decision
  }

  /// Adapts the number of active workers beyond the width. While CPUs are not scarce it covers the
  /// light and the resting workers, so it can double in each look, and otherwise decays. While CPUs
  /// are scarce it shrinks by the busy workers in excess. It is zero while no work waits.
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
    guard let untaken = waiting.itemsUntaken else { return 0 }
    let held = look.itemsHeld
    if look.itemsAtWork < books.width && held < limits.softThreads {
      return untaken >= thresholds.itemPatience ? 1 : 0
    }
    guard look.overdueItems >= books.width, untaken >= likelyEnd else { return 0 }
    let few = min(fewItems, limits.softThreads)
    if held < few {
      guard untaken >= thresholds.fewUntaken else { return 0 }
      return min(max(1, held / thresholds.fewGrowth), few - held)
    }
    // Items that compute. Those that sleep need no CPU time to end, so they do not count here.
    let computing = look.itemsAtWork + look.overdueItems
    guard untaken >= thresholds.manyUntaken * UInt64(computing) / UInt64(books.width) else {
      return 0
    }
    // External workers hold items, too, and are beyond the limit of threads.
    let left = max(0, limits.maxThreads - held)
    return min(max(1, computing / thresholds.manyGrowth), left)
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
    min(limits.maxThreads, count + max(1, count / part))
  }

  private func report(_ books: Books) -> Report? {
    if books.threads >= limits.maxThreads && books.idle == 0 {
      let allRest = look.busy + look.overdue == 0
      return untaken >= (allRest ? thresholds.limitReport : thresholds.heldReport) ? .limit : nil
    }
    guard untaken >= thresholds.heldReport else { return nil }
    if books.isRefused { return .refused }
    return books.threads >= thresholds.heldThreads ? .held : nil
  }
}
