// Room: Pool/GrowthPolicy+Counting. Decides in each look whether a worker counts as active.

extension GrowthPolicy {
  /// Notes a worker whose item sleeps in a wait of the engine, which the pool does not count.
  /// `hasPicked`: it has begun that item since the last look. Items that wait in turn for a queue
  /// are mostly found waiting, and yet end.
  mutating func seeAnnounced(isInLane: Bool, hasPicked: Bool) {
    look.announced += 1
    if hasPicked { look.hasProgress = true }
    if !isInLane { look.itemsHeld += 1 }
  }

  /// Decides about a worker. `state` asks the kernel for the thread's state, `nil` if that cannot
  /// be read. It costs 8 to 20 µs, so it is called only if the answer matters.
  mutating func see(_ sight: Sight, _ record: inout Record, state: () -> ThreadState?) -> Verdict {
    let moved = sight.progress != record.progress
    if let used = sight.used, used > 0 {
      let begun = UInt64(sight.progress &- record.progress)
      record.hasLongNodes = used >= max(1, begun) * thresholds.longNode
    }
    look.used += sight.used ?? 0
    if moved {
      look.hasProgress = true
      noteEnd(of: record)
      record.busy = 0
      record.sleeps = nil
      record.rests = 0
      record.mappingWait = 0
    }
    record.usedInNaps += sight.used ?? 0
    if sight.used ?? 1 > 0 { record.isRunnable = false }
    record.progress = sight.progress
    record.isInLane = sight.isInLane
    if !sight.isInLane { look.itemsHeld += 1 }
    return sight.isCounted
      ? seeCounted(sight, &record, moved: moved, state: state)
      : seeUncounted(sight, &record, moved: moved, state: state)
  }

  private mutating func seeCounted(
    _ sight: Sight, _ record: inout Record, moved: Bool, state: () -> ThreadState?
  ) -> Verdict {
    record.mark = .none
    if rests(sight, &record, state: state) {
      if sight.isInLane { look.restingLanes += 1 }
      guard moved else {
        record.mark = .resting
        record.rests = min(record.rests + 1, 32)
        record.usedAwake = 0
        look.resting += 1
        return .stopCounting
      }
      look.light += 1
      noteAtWork(sight, record)
      return .keep
    }
    if !moved { work(sight, &record) }
    if becomesOverdue(sight, record) {
      record.mark = sight.isInLane ? .overdueLane : .overdueItem
      return .stopCounting
    }
    look.busy += 1
    noteAtWork(sight, record)
    return .keep
  }

  private mutating func seeUncounted(
    _ sight: Sight, _ record: inout Record, moved: Bool, state: () -> ThreadState?
  ) -> Verdict {
    switch record.mark {
    case .none, .resting:
      guard hasAwakened(sight, &record, state: state) else {
        look.resting += 1
        return .keep
      }
    case .overdueLane, .overdueItem:
      if !moved {
        work(sight, &record)
        if record.mark == .overdueLane { look.overdueLanes += 1 } else { look.overdueItems += 1 }
        return .keep
      }
    }
    record.mark = .none
    look.busy += 1
    noteAtWork(sight, record)
    return .count
  }

  private mutating func noteAtWork(_ sight: Sight, _ record: Record) {
    if sight.isInLane {
      if record.hasLongNodes { look.longLanes += 1 }
    } else {
      look.itemsAtWork += 1
      if record.hasLongNodes { look.longItems += 1 }
    }
  }

  /// Whether a worker that rested uses a CPU again, or would use one if it were free.
  private mutating func hasAwakened(
    _ sight: Sight, _ record: inout Record, state: () -> ThreadState?
  ) -> Bool {
    let used = sight.used ?? 0
    if used * thresholds.wakingShare > sight.elapsed { return staysAwake(used, &record) }
    if used == 0 { return false }
    look.usedResting += used
    look.suspects += 1
    guard last.usedResting * thresholds.suspicionShare > UInt64(width) * lastElapsed else {
      return false
    }
    // Each look reads a part of them, all of them in turn.
    let stride = max(1, last.suspects / thresholds.statesRead)
    guard (look.suspects + lookNumber) % stride == 0, let state = state() else { return false }
    return sleeps(state, &record) == false
  }

  /// Whether a worker that uses much CPU counts again. It may submit work and wait for it again and
  /// again in its item: after each return that would wait for a look, which then finds the worker
  /// asleep. So each return takes twice the CPU time of the one before.
  private mutating func staysAwake(_ used: UInt64, _ record: inout Record) -> Bool {
    record.usedAwake += used
    let doublings = record.rests - 2
    guard doublings >= 0, look.doubted < width,
      record.usedAwake < min(thresholds.longestDoubt, thresholds.firstDoubt << doublings)
    else { return true }
    look.doubted += 1
    return false
  }

  private mutating func rests(
    _ sight: Sight, _ record: inout Record, state: () -> ThreadState?
  ) -> Bool {
    guard let used = sight.used, used * thresholds.restingShare < sight.elapsed else {
      record.silentLooks = 0
      record.mappingWait = 0
      return false
    }
    // It has not run since it was last found runnable, so it still waits for a CPU.
    if record.isRunnable { return false }
    if let state = state() {
      if case .inMappings = state {
        record.mappingWait += sight.elapsed
        if record.mappingWait > thresholds.maxMappingWait { return true }
        look.inMappings += 1
        return false
      }
      record.mappingWait = 0
      return sleeps(state, &record) ?? false
    }
    // A thread that waits for a CPU used none either. If it is taken for asleep, there is one
    // worker too many for a while.
    record.silentLooks = used == 0 ? record.silentLooks + 1 : 0
    return record.silentLooks >= thresholds.silentLooks
  }

  /// Whether a thread that used little CPU time sleeps, or naps and waits for a CPU in between;
  /// `nil`: not known yet. On a loaded machine a thread that polls is found asleep by chance only.
  private func sleeps(_ state: ThreadState, _ record: inout Record) -> Bool? {
    let sleeps: UInt64
    switch state {
    case .asleep: return true
    case .inMappings: return nil
    case .runnable(let count): sleeps = count
    }
    record.isRunnable = true
    guard let first = record.sleeps else {
      record.startNaps(at: sleeps)
      return nil
    }
    // Between the first nap and the last one, the thread has worked once less than it has napped.
    let works = sleeps > first ? sleeps - first - 1 : 0
    if works == 0 && record.usedInNaps < 2 * thresholds.napWork { return nil }
    let isNapping = record.usedInNaps < works * thresholds.napWork
    record.startNaps(at: sleeps)
    return isNapping
  }

  private func work(_ sight: Sight, _ record: inout Record) {
    let share = sight.isInLane ? thresholds.minLaneShare : thresholds.minItemShare
    record.busy += max(sight.used ?? 0, sight.elapsed / share)
  }

  private mutating func noteEnd(of record: Record) {
    if record.isInLane {
      longestEndedLane = max(longestEndedLane, record.busy)
    } else {
      longestEndedItem = max(longestEndedItem, record.busy)
    }
  }

  private mutating func becomesOverdue(_ sight: Sight, _ record: Record) -> Bool {
    if sight.isInLane {
      guard record.busy >= laneLimit, look.newLanes < atOnce(last.overdueLanes) else {
        return false
      }
      look.newLanes += 1
      look.overdueLanes += 1
    } else {
      // With many items held and the width overdue, only `itemsToSend` lets further items begin.
      guard last.itemsHeld < fewItems || last.overdueItems < width, record.busy >= itemLimit,
        look.newItems < atOnce(last.overdueItems)
      else { return false }
      look.newItems += 1
      look.overdueItems += 1
    }
    return true
  }

  private func atOnce(_ already: Int) -> Int {
    min(thresholds.maxAtOnce, max(1, already / thresholds.overdueGrowth))
  }

  private var laneLimit: UInt64 {
    let limit = last.overdueLanes == 0 ? thresholds.overdueLane : thresholds.nextOverdueLane
    return max(
      limit, min(thresholds.latestOverdueLane, longestEndedLane * thresholds.endedFactor))
  }

  private var itemLimit: UInt64 { max(thresholds.overdueItem, likelyEnd) }

  /// The longest likely run time of an item, judged by the items that ended lately.
  var likelyEnd: UInt64 {
    min(thresholds.latestOverdueItem, longestEndedItem * thresholds.endedFactor)
  }

  var fewItems: Int { max(thresholds.fewItems, 2 * width) }
}
