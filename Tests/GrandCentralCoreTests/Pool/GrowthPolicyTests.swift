// The promises of GrowthPolicy in virtual time. With one rule broken, it breaks one of them.
// Shows contract row T4.
import TestSupport
import Testing

@testable import GrandCentralCore

/// The promises of the pool, each with a scenario that returns what is wrong, or `nil`.
private enum Promise: String, CaseIterable, Sendable {
  case laneBehindComputingLanes, laneBehindPollingLanes, laneBehindComputingItems
  case itemBehindComputingLanes, itemBehindPollingItems, itemBehindComputingItems
  case itemBehindManyLanes, itemBehindManyEndlessItems
  case pollingMeetings, spinningMeetings, manyLanesMeet, announcedMeeting, nappersMeet
  case napsOnALoadedMachineMeet
  case computingItemsKeepToTheWidth, alsoOnALoadedMachine, alsoBesideAnEndlessOne
  case lockingItemsKeepToTheWidth
  case awakenedItemsCountAgain, shortLanesNeedFewThreads, laterLanesNeedFewThreads
  case sleepingItemsOverlap, sleepingLanesOverlap, briefNapsOverlap, waitsInTurnNeedFewThreads
  case lanesKeepUpOnALoadedMachine
  case limitsHold, heldThreadsAreReported, refusalsAreReported

  func violation(_ rules: GrowthPolicy.Thresholds) -> String? {
    switch self {
    case .laneBehindComputingLanes:
      return worst(
        [1, 2, 4, 16, 64], within: { 10 + $0 }, rules, .lanes, behind: .lanes, .computing)
    case .laneBehindPollingLanes:
      return worst([1, 2, 4, 16, 64], within: { 5 + $0 }, rules, .lanes, behind: .lanes, .polling)
    case .laneBehindComputingItems:
      return worst(
        [1, 2, 4, 16, 64], within: { _ in 6 }, rules, .lanes, behind: .items, .computing)
    case .itemBehindComputingLanes:
      return worst([1, 2, 4, 16], within: { 20 + $0 }, rules, .items, behind: .lanes, .computing)
    case .itemBehindPollingItems:
      return worst([1, 2, 4, 16, 48], within: { 5 + $0 }, rules, .items, behind: .items, .polling)
    case .itemBehindComputingItems:
      return worst(
        [2, 4, 16], widths: [1, 2, 4], within: { _ in 1100 }, rules, .items, behind: .items,
        .computing)
    case .itemBehindManyLanes:
      return worst(
        [100], widths: [2], within: { _ in 20 }, rules, .items, behind: .lanes, .computing,
        settled: 300)
    case .itemBehindManyEndlessItems:
      return worst(
        [28], widths: [4], within: { _ in 10_000 }, rules, .items, behind: .items, .computing)
    case .pollingMeetings:
      return meetings([2, 4, 16, 64], rules) { .pollBegun($0) }
    case .spinningMeetings:
      return meetings([2, 4, 16, 64], kinds: [.lanes], rules) { .spinBegun($0) }
    case .manyLanesMeet:
      return meetings([128, 200], kinds: [.lanes], millisecondsEach: 1, rules) { .pollBegun($0) }
    case .announcedMeeting:
      return meetings([300], rules) { .awaitBegun($0) }
    case .napsOnALoadedMachineMeet:
      return meetings([2, 4, 16, 62], load: 36, rules) { .napBegun($0) }
    case .nappersMeet: return nappers(rules)
    case .computingItemsKeepToTheWidth: return explosion(rules, of: .compute(milliseconds: 60))
    case .alsoOnALoadedMachine: return explosion(rules, of: .compute(milliseconds: 60), load: 40)
    case .lockingItemsKeepToTheWidth:
      return explosion(rules, of: .computeLocking(milliseconds: 60), load: 40)
    case .alsoBesideAnEndlessOne:
      return explosion(rules, of: .compute(milliseconds: 200), endless: 1, early: 24)
    case .awakenedItemsCountAgain: return awakened(rules)
    case .shortLanesNeedFewThreads:
      return shortLanes(rules, of: 0.2)
    case .laterLanesNeedFewThreads:
      return shortLanes(rules, of: 5)
    case .sleepingItemsOverlap:
      return sleepers(.items, rules, within: 230, threads: 64)
    case .briefNapsOverlap:
      return sleepers(.items, rules, naps: 4000, of: 0.5, within: 160, threads: 64)
    case .sleepingLanesOverlap:
      return sleepers(.lanes, rules, within: 130, threads: 256)
    case .waitsInTurnNeedFewThreads: return queueUp(rules)
    case .lanesKeepUpOnALoadedMachine: return streamOfLanes(rules)
    case .limitsHold: return limits(rules)
    case .heldThreadsAreReported: return reports(.held, rules)
    case .refusalsAreReported: return reports(.refused, rules)
    }
  }
}

private enum Hog { case computing, polling }

/// The delay of a probe behind each of `counts` items that do not end.
private func worst(
  _ counts: [Int], widths: [Int] = [1, 2, 4], within limit: (Int) -> Int,
  _ rules: GrowthPolicy.Thresholds,
  _ probe: WorkKind, behind kind: WorkKind, _ hog: Hog, settled: Double = 0
) -> String? {
  for width in widths {
    for count in counts {
      var machine = GrowthSimulation(width: width, thresholds: rules)
      let step: Step =
        hog == .computing ? .compute(milliseconds: 1e9) : .pollBegun(Step.forever)
      machine.submit(count, Script(kind, step))
      machine.run(milliseconds: settled)
      let delay = machine.delay(ofProbe: probe, within: 2.0 * Double(limit(count)))
      guard let delay, delay <= Double(limit(count)) else {
        return "width \(width), \(count): \(delay.map { "\($0) ms" } ?? "never")"
      }
    }
  }
  return nil
}

/// `counts` items that all wait until all have begun.
private func meetings(
  _ counts: [Int], kinds: [WorkKind] = WorkKind.allCases, millisecondsEach: Int = 5, load: Int = 0,
  _ rules: GrowthPolicy.Thresholds,
  _ step: (Int) -> Step
) -> String? {
  for count in counts {
    for kind in kinds {
      var machine = GrowthSimulation(thresholds: rules)
      machine.load = load
      machine.submit(count, Script(kind, step(count)))
      let limit = Double(millisecondsEach * count)
      let haveMet = machine.run(milliseconds: limit) { $0.begunCount == count }
      if !haveMet { return "\(kind): \(machine.begunCount) of \(count)" }
    }
  }
  return nil
}

/// Several times the soft limit of items, each of which naps until all have begun.
private func nappers(_ rules: GrowthPolicy.Thresholds) -> String? {
  var machine = GrowthSimulation(thresholds: rules)
  machine.submit(300, Script(.items, .pollBegun(300)))
  return machine.run(milliseconds: 1500) { $0.begunCount == 300 }
    ? nil : "\(machine.begunCount) of 300"
}

private func explosion(
  _ rules: GrowthPolicy.Thresholds, of step: Step, load: Int = 0, endless: Int = 0,
  early: Int = 0
) -> String? {
  for width in [1, 2, 4] {
    var machine = GrowthSimulation(
      width: width, softThreads: endless > 0 ? 64 : 24, thresholds: rules)
    machine.load = load
    machine.submit(endless, Script(.items, .compute(milliseconds: 1e9)))
    machine.submit(200, Script(.items, step))
    if endless > 0 {
      // Until the first item ends, any item may be endless, so a few more have threads.
      machine.run(milliseconds: 15_000) { $0.ended == 40 }
      if machine.ended < 40 { return "\(machine.ended) ended" }
      if machine.maxAtWork > max(width + endless, early) {
        return "\(machine.maxAtWork) at first"
      }
      machine.forgetPeaks()
    }
    machine.run(milliseconds: load > 0 ? 2500 : 1000)
    // Each overdue item makes room for another item.
    if machine.maxAtWork > width + endless {
      return "\(machine.maxAtWork) at work, the width is \(width)"
    }
  }
  return nil
}

/// Items that first sleep and then compute.
private func awakened(_ rules: GrowthPolicy.Thresholds) -> String? {
  var machine = GrowthSimulation(thresholds: rules)
  machine.submit(400, Script(.items, .sleep(milliseconds: 4), .compute(milliseconds: 30)))
  // The items that slept at first all compute in this interval.
  machine.run(milliseconds: 1200)
  machine.forgetPeaks()
  machine.run(milliseconds: 600)
  return machine.maxAtWork <= 70 ? nil : "\(machine.maxAtWork) compute"
}

/// Items that each wait, in the engine, for the one before, as those do that `sync` into a queue.
private func queueUp(_ rules: GrowthPolicy.Thresholds) -> String? {
  var machine = GrowthSimulation(thresholds: rules)
  let count = 2000
  for number in 0..<count {
    machine.submit(Script(.items, .awaitEnded(number), .sleep(milliseconds: 0.3)))
  }
  machine.run(milliseconds: 3000) { $0.ended == count }
  let isRight = machine.ended == count && machine.maxThreadsSeen <= 64 && machine.reports.isEmpty
  return isRight ? nil : "\(machine.ended) ended, \(machine.maxThreadsSeen) threads"
}

private func shortLanes(
  _ rules: GrowthPolicy.Thresholds, of milliseconds: Double
) -> String? {
  var machine = GrowthSimulation(thresholds: rules)
  let count = Int(500 / milliseconds)
  machine.submit(count, Script(.lanes, .compute(milliseconds: milliseconds)))
  machine.run(milliseconds: 1000) { $0.ended == count }
  return machine.maxThreadsSeen <= 6 && machine.ended == count
    ? nil : "\(machine.maxThreadsSeen) threads, \(machine.ended) ended"
}

/// Lanes that need two thirds of a CPU together, beside eight other threads on two CPUs.
private func streamOfLanes(_ rules: GrowthPolicy.Thresholds) -> String? {
  var rules = rules
  // In a tick each worker runs one node; these stand for many short ones.
  rules.longNode = .max
  var machine = GrowthSimulation(thresholds: rules)
  machine.hasLanesBehindOthers = true
  machine.load = 8
  for _ in 1...4000 {
    machine.submit(Script(.lanes, .compute(milliseconds: 0.33)))
    machine.run(milliseconds: 0.5)
  }
  return machine.waitingCount < 40 ? nil : "\(machine.waitingCount) wait"
}

private func sleepers(
  _ kind: WorkKind, _ rules: GrowthPolicy.Thresholds, naps: Int = 1000,
  of milliseconds: Double = 10, within limit: Double, threads: Int
) -> String? {
  var machine = GrowthSimulation(thresholds: rules)
  machine.submit(naps, Script(kind, .sleep(milliseconds: milliseconds)))
  let areDone = machine.run(milliseconds: limit) { $0.ended == naps }
  return areDone && machine.maxThreadsSeen <= threads
    ? nil : "\(machine.ended) of \(naps) with \(machine.maxThreadsSeen) threads"
}

/// Endless items have at most the soft limit of threads for as long as items of a CPU second would
/// take to end, and then more; endless lanes have at most the total limit. Lanes that end have at
/// most four times the soft limit.
private func limits(_ rules: GrowthPolicy.Thresholds) -> String? {
  var items = GrowthSimulation(softThreads: 8, thresholds: rules)
  items.submit(30, Script(.items, .compute(milliseconds: 1e9)))
  items.run(milliseconds: 4000)
  if items.maxThreadsSeen > 8 { return "\(items.maxThreadsSeen) threads for items" }
  items.run(milliseconds: 60_000) { $0.begunCount == 30 }
  if items.begunCount < 30 { return "\(items.begunCount) of 30 items" }
  var lanes = GrowthSimulation(softThreads: 8, thresholds: rules)
  lanes.submit(40, Script(.lanes, .compute(milliseconds: 1e9)))
  lanes.run(milliseconds: 6000) { $0.begunCount == 40 }
  if lanes.begunCount < 40 { return "\(lanes.begunCount) of 40 lanes" }
  var ending = GrowthSimulation(softThreads: 8, thresholds: rules)
  ending.submit(200, Script(.lanes, .compute(milliseconds: 20)))
  ending.run(milliseconds: 500)
  return ending.maxThreadsSeen <= 32 ? nil : "\(ending.maxThreadsSeen) threads for lanes"
}

private func reports(_ report: GrowthPolicy.Report, _ rules: GrowthPolicy.Thresholds) -> String? {
  var machine = GrowthSimulation(softThreads: 16, thresholds: rules)
  if report == .refused { machine.maxThreads = 3 }
  // As many lanes as may hold threads, and some that wait.
  machine.submit(70, Script(.lanes, .compute(milliseconds: 1e9)))
  machine.run(milliseconds: 3500) { $0.reports.contains(report) }
  return machine.reports.contains(report) ? nil : "reports: \(machine.reports)"
}

/// The policy with one rule broken, and the promise that it breaks.
private struct BrokenRule: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let promise: Promise
  let change: @Sendable (inout GrowthPolicy.Thresholds) -> Void

  init(
    _ name: String, breaks promise: Promise,
    _ change: @escaping @Sendable (inout GrowthPolicy.Thresholds) -> Void
  ) {
    testDescription = name
    self.promise = promise
    self.change = change
  }

  static let all: [BrokenRule] = [
    BrokenRule("only a worker without CPU time rests", breaks: .itemBehindPollingItems) {
      $0.restingShare = 1_000_000
    },
    BrokenRule("naps between waits for a CPU are not seen", breaks: .napsOnALoadedMachineMeet) {
      $0.napWork = 0
    },
    BrokenRule("any nap is a rest", breaks: .lockingItemsKeepToTheWidth) {
      $0.napWork = 1_000_000
    },
    BrokenRule("a worker that rested never counts again", breaks: .awakenedItemsCountAgain) {
      $0.wakingShare = 0
      $0.suspicionShare = 0
    },
    BrokenRule("among many, one that rested never counts", breaks: .awakenedItemsCountAgain) {
      $0.suspicionShare = 0
    },
    BrokenRule("a lane is never overdue", breaks: .laneBehindComputingLanes) {
      $0.overdueLane = .max
    },
    BrokenRule("a lane is overdue late", breaks: .spinningMeetings) {
      $0.overdueLane = 1_000_000_000
    },
    BrokenRule("an item is never overdue", breaks: .itemBehindComputingItems) {
      $0.overdueItem = .max
      $0.latestOverdueItem = .max
    },
    BrokenRule("an item is overdue as soon as a lane", breaks: .computingItemsKeepToTheWidth) {
      $0.overdueItem = $0.overdueLane
    },
    BrokenRule("each endless item takes a second to notice", breaks: .itemBehindComputingItems) {
      $0.fewUntaken = $0.overdueItem
    },
    BrokenRule("more than a few endless items stay", breaks: .itemBehindManyEndlessItems) {
      $0.manyUntaken = .max / 100
    },
    BrokenRule("endless items end at the soft limit", breaks: .limitsHold) {
      $0.manyUntaken = .max / 100
    },
    BrokenRule("any number of items are few", breaks: .alsoBesideAnEndlessOne) {
      $0.fewItems = 1000
    },
    BrokenRule("an item's time is the clock's", breaks: .alsoOnALoadedMachine) {
      $0.minItemShare = 1
    },
    BrokenRule("items that ended teach nothing", breaks: .alsoBesideAnEndlessOne) {
      $0.endedFactor = 0
    },
    BrokenRule("lanes wait for the width", breaks: .manyLanesMeet) { $0.maxLaneWait = .max },
    BrokenRule("items wait for lanes", breaks: .itemBehindManyLanes) { $0.itemPatience = .max },
    BrokenRule("light workers count for the width", breaks: .briefNapsOverlap) {
      $0.lightShare = 0
    },
    BrokenRule("lanes that ended teach nothing", breaks: .laterLanesNeedFewThreads) {
      $0.endedFactor = 0
    },
    BrokenRule("soft limits hold for ever", breaks: .nappersMeet) { $0.stalledLooks = .max },
    BrokenRule("what is announced is not believed", breaks: .announcedMeeting) {
      $0.stalledLooksIfAnnounced = 1_000_000
    },
    BrokenRule("a pool that stands grows by few threads", breaks: .nappersMeet) {
      $0.growth = 64
    },
    BrokenRule("one lane a look is found overdue", breaks: .laneBehindComputingLanes) {
      $0.overdueGrowth = 1_000_000
    },
    BrokenRule("CPUs that others use are the pool's", breaks: .lanesKeepUpOnALoadedMachine) {
      $0.othersShare = 1
    },
    BrokenRule("held threads are not reported", breaks: .heldThreadsAreReported) {
      $0.heldReport = .max
    },
    BrokenRule("many held threads are not reported", breaks: .heldThreadsAreReported) {
      $0.heldThreads = 1000
    },
    BrokenRule("refused threads are not reported", breaks: .refusalsAreReported) {
      $0.heldReport = .max
    },
  ]
}

@Suite("The growth policy") struct GrowthPolicyTests {
  @Test(arguments: Promise.allCases)
  fileprivate func `satisfies its statement`(_ promise: Promise) {
    #expect(promise.violation(GrowthPolicy.Thresholds()) == nil)
  }

  @Test(arguments: BrokenRule.all)
  fileprivate func `violates a statement without one of its rules`(_ rule: BrokenRule) {
    var rules = GrowthPolicy.Thresholds()
    rule.change(&rules)
    #expect(rule.promise.violation(rules) != nil)
  }

  /// External workers hold items beyond the limit of threads.
  @Test func `sends no worker beyond the limit`() {
    let limits = GrowthPolicy.Limits(softThreads: 2, softThreadsForLanes: 2, maxThreads: 2)
    var policy = GrowthPolicy(limits: limits, firstThreads: 2)
    let waiting = GrowthPolicy.Waiting(
      hasWork: true, oldestLane: nil, itemsUntaken: 3_600_000_000_000)
    let books = GrowthPolicy.Books(width: 2, threads: 3, idle: 0, active: 0)
    var records = [GrowthPolicy.Record](repeating: .init(), count: 3)
    var isCounted = [true, true, true]
    for _ in 0..<10_000 {
      policy.begin()
      for index in records.indices {
        let sight = GrowthPolicy.Sight(
          isCounted: isCounted[index], isInLane: false, progress: 1, used: 1_000_000,
          elapsed: 1_000_000)
        switch policy.see(sight, &records[index], state: { .runnable(sleeps: 0) }) {
        case .keep: break
        case .stopCounting: isCounted[index] = false
        case .count: isCounted[index] = true
        }
      }
      #expect(policy.decide(waiting, books, elapsed: 1_000_000).itemsToSend == 0)
    }
    #expect(isCounted == [false, false, false])
  }

  @Test func `starts afresh after a rest`() {
    let limits = GrowthPolicy.Limits(softThreads: 8, softThreadsForLanes: 32, maxThreads: 40)
    var policy = GrowthPolicy(limits: limits, firstThreads: 6)
    let quiet = GrowthPolicy.Waiting(hasWork: false, oldestLane: nil, itemsUntaken: nil)
    let busy = GrowthPolicy.Waiting(hasWork: true, oldestLane: 5_000_000, itemsUntaken: nil)
    let books = GrowthPolicy.Books(width: 2, threads: 4, idle: 0, active: 0)
    policy.begin()
    let first = policy.decide(busy, books, elapsed: 1_000_000)
    #expect(first.lanesToSend == 3 && first.lanesBeyond == 1)
    policy.begin()
    let last = policy.decide(quiet, books, elapsed: 1_000_000)
    #expect(last.lanesToSend == 0 && last.lanesBeyond == 0 && last.beyondWidth == 0)
  }
}
