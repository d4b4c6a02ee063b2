// Purpose: decides whether a program may be run: whether every engine that keeps its promises runs
// it to its end, and no engine may stop it for misuse. The generator makes only legal programs; the
// shrinker checks each candidate before it runs it.
//
// Waits form no cycle, because everything for which a thread can wait has a level:
//   floor   the highest level that the thread holds. It waits only for higher levels.
//   reach   the lowest level that had to work for the thread to get here. An inactive queue is
//           activated only where every level that was needed to get there is above its own.
// The items of a level depend only on higher levels, so the highest level always finishes, then the
// next. Busy waits follow the same levels; meetings follow one more rule, in
// Legality+BusyWaits.swift.

public struct Complaint: Error, Hashable, CustomStringConvertible {
  public let description: String
}

extension Program {
  public func check(against capabilities: Capabilities = .all) throws(Complaint) {
    var checker = LegalityChecker(self, capabilities)
    try checker.check()
  }

  public var isLegal: Bool {
    do throws(Complaint) {
      try check()
      return true
    } catch {
      return false
    }
  }
}

struct LegalityChecker {
  struct Place {
    var floor = -1
    var reach = Int.max
    /// False if a cancelled item or a wait with a timeout may skip the step.
    var isCertain = true
    /// Whether a thread that waits here could keep others from running, on an engine with few
    /// shared threads.
    var isOnSharedThread = false
    /// The items that certainly run and were certainly submitted before this position.
    var coming: Set<Int> = []
  }

  let program: Program
  let capabilities: Capabilities
  let cancelled: Set<Int>
  /// The submission of each item that has a handle, by the item's number.
  let handles: [Int: Submission]
  let hierarchies: Hierarchies
  /// The queue of each submitted item.
  let queueOfItem: [Int: Int]
  private var seen: Set<Int> = []
  private var activated: Set<Int> = []
  private var waited: Set<Int> = []
  /// The hierarchies that hold a meeting.
  var met: Set<Int> = []

  init(_ program: Program, _ capabilities: Capabilities) {
    self.program = program
    self.capabilities = capabilities
    let ops = program.allOps
    cancelled = Set(
      ops.compactMap { op in
        if case .cancel(_, let item) = op { item } else { nil }
      })
    handles = Dictionary(
      ops.flatMap(\.submissions).filter(\.hasHandle).map { ($0.item.id, $0) }
    ) { first, _ in first }
    hierarchies = Hierarchies(program)
    queueOfItem = Dictionary(
      ops.flatMap(\.submissions).map { ($0.item.id, $0.queue) }
    ) { first, _ in first }
  }

  mutating func check() throws(Complaint) {
    try checkQueues()
    for driver in program.drivers {
      var place = Place()
      try check(driver, &place)
    }
    for (number, queue) in program.queues.enumerated() where queue.isInactive {
      try demand(activated.contains(number), "queue \(number) is never activated")
    }
  }

  private func checkQueues() throws(Complaint) {
    try demand(program.queues.count <= 64, "more than 64 queues")
    for (number, queue) in program.queues.enumerated() {
      try demand(queue.isPrivate || queue.target == nil, "queue \(number) cannot have a target")
      try demand(queue.isPrivate || !queue.isInactive, "queue \(number) cannot be inactive")
      try demand(queue.kind != .main || capabilities.contains(.mainQueue), "no main queue here")
      try checkTarget(queue.target, of: number)
    }
    try demand(program.queues.filter { $0.kind == .main }.count <= 1, "two main queues")
  }

  private func checkTarget(_ target: Int?, of number: Int) throws(Complaint) {
    guard let target else { return }
    try demand(
      target > number && target < program.queues.count,
      "queue \(number) targets \(target), which does not stand after it")
    try demand(
      program.queues[target].level == program.queues[number].level,
      "queue \(number) targets \(target) of another level")
  }

  private mutating func check(_ ops: [Op], _ place: inout Place) throws(Complaint) {
    var submitted: Set<Int> = []
    let all = Set(ops.flatMap(\.submissions).map(\.item.id))
    // After this list, its submissions are no longer certain.
    let comingBefore = place.coming
    defer { place.coming = comingBefore }
    for op in ops {
      if case .waitItem(_, let item) = op {
        try demand(submitted.contains(item), "waits for \(item), which may never be submitted")
      }
      if case .notifyItem(let item, _, _) = op {
        try demand(all.contains(item), "observes \(item), which may never be submitted")
      }
      try check(op, &place)
      for submission in op.submissions {
        if submission.hasHandle { submitted.insert(submission.item.id) }
        if certainlyRuns(submission) { place.coming.insert(submission.item.id) }
      }
    }
  }

  mutating func take(_ id: Int) throws(Complaint) {
    try demand(seen.insert(id).inserted, "number \(id) stands for two steps")
  }

  private mutating func check(_ op: Op, _ place: inout Place) throws(Complaint) {
    try take(op.id)
    switch op {
    case .submit(let submission): try check(submission, &place)
    case .iterate(_, let items): try checkIterations(items, &place)
    case .notify(let group, let queue, let item):
      try checkGroup(group)
      try checkItem(item, on: queue, from: place)
    case .waitGroup(_, let group, let patience):
      try checkGroup(group)
      if patience == nil { try wait(for: program.groups[group].level, &place) }
    case .permit(_, let semaphore, let patience, let body):
      try checkPermit(semaphore, patience, body, &place)
    case .handshake(_, let semaphore, let submission):
      try checkHandshake(semaphore, submission, &place)
    case .suspended(_, let queue, let body):
      let level = try suspendable(queue)
      var inner = place
      inner.floor = max(place.floor, level)
      try check(body, &inner)
      place.reach = min(place.reach, inner.reach)
    case .suspendUntil(_, let queue, let submission):
      let level = try suspendable(queue)
      try demandPlain(submission)
      try take(submission.item.id)
      try demand(
        try self.level(of: submission.queue) > level,
        "the item that resumes queue \(queue) may need it")
      try check(submission, &place)
    case .activate(_, let queue, let target): try checkActivation(queue, target, place)
    case .retarget(_, let queue, let target):
      try demand(capabilities.contains(.retargetsActive), "cannot retarget at work")
      _ = try suspendable(queue)
      try demand(!program.queues[queue].isInactive, "retargets a queue that may be inactive")
      try checkTarget(target, of: queue)
    case .waitItem(_, let item):
      try demand(waited.insert(item).inserted, "waits for \(item) twice")
      try waitForItem(item, &place)
    case .notifyItem(_, let queue, let item): try checkItem(item, on: queue, from: place)
    case .cancel(_, let item):
      try demand(handles[item] != nil, "cancels \(item), which has no handle")
    case .busyWait(_, let item, _, _): try checkBusyWait(item, &place)
    case .meeting(_, _, let members): try checkMeeting(members, place)
    case .readSpecific, .spin: break
    }
  }
}

// MARK: Parts of a step

extension LegalityChecker {
  func demand(
    _ condition: Bool, _ complaint: @autoclosure () -> String
  ) throws(Complaint) {
    if !condition { throw Complaint(description: complaint()) }
  }

  func level(of queue: Int) throws(Complaint) -> Int {
    try demand(program.queues.indices.contains(queue), "there is no queue \(queue)")
    return program.queues[queue].level
  }

  private func suspendable(_ queue: Int) throws(Complaint) -> Int {
    let level = try level(of: queue)
    try demand(program.queues[queue].isPrivate, "queue \(queue) is not the program's own")
    return level
  }

  private func checkGroup(_ group: Int) throws(Complaint) {
    try demand(program.groups.indices.contains(group), "there is no group \(group)")
  }

  func wait(for level: Int, _ place: inout Place) throws(Complaint) {
    try demand(level > place.floor, "waits for level \(level) while it holds \(place.floor)")
    try demand(
      !place.isOnSharedThread || capabilities.contains(.blocksAnywhere),
      "waits on a thread that the engine shares out sparingly")
    place.reach = min(place.reach, level)
  }

  func demandPlain(_ submission: Submission) throws(Complaint) {
    try demand(
      submission.way == .async && !submission.hasHandle,
      "item \(submission.item.id) must run, whatever is cancelled")
  }

  mutating func check(_ submission: Submission, _ place: inout Place) throws(Complaint) {
    let level = try level(of: submission.queue)
    let mayBeCancelled = cancelled.contains(submission.item.id)
    try checkWay(submission)
    if let membership = submission.membership {
      try checkGroup(membership.group)
      try demand(
        level >= program.groups[membership.group].level,
        "item \(submission.item.id) is below its group")
      try demand(
        !submission.way.isInline && (submission.way == .async || membership.isByHand),
        "item \(submission.item.id) cannot be a member this way")
      try demand(
        !membership.isByHand || !submission.hasHandle,
        "item \(submission.item.id) may never leave its group")
    }
    if mayBeCancelled && !submission.way.isInline {
      try demand(
        program.queues[submission.queue].kind != .global && submission.way == .async,
        "no later step would find the end of item \(submission.item.id)")
    }
    if submission.way == .perform {
      var inner = place
      inner.isCertain = place.isCertain && !mayBeCancelled
      try check(submission.item.body, &inner)
      place.reach = min(place.reach, inner.reach)
      return
    }
    if submission.way.isInline { try wait(for: level, &place) }
    try checkItem(
      submission.item, on: submission.queue, from: place, mayBeCancelled: mayBeCancelled,
      isCounted: true, isInline: submission.way.isInline)
  }

  private func checkWay(_ submission: Submission) throws(Complaint) {
    switch submission.way {
    case .after: try demand(capabilities.contains(.after), "there is no asyncAfter")
    case .asyncAndWait:
      try demand(capabilities.contains(.asyncAndWait), "there is no asyncAndWait")
    case .perform: try demand(submission.hasHandle, "only a DispatchWorkItem has perform()")
    case .task, .actor: try checkTask(submission)
    case .async, .sync: break
    }
    let isCancelled = cancelled.contains(submission.item.id)
    try demand(
      submission.hasHandle || !isCancelled, "item \(submission.item.id) cannot be cancelled")
  }

  private func checkTask(_ submission: Submission) throws(Complaint) {
    let id = submission.item.id
    try demand(capabilities.contains(.tasks), "queues are no executors")
    try demand(!submission.isBarrier && !submission.hasHandle, "task \(id) is no work item")
    guard case .actor = submission.way else { return }
    try demand(program.queues[submission.queue].isSerial, "the actor of \(id) is not serial")
  }

  private mutating func checkItem(
    _ item: Item, on queue: Int, from place: Place, mayBeCancelled: Bool = false,
    isCounted: Bool = false, isInline: Bool = false
  ) throws(Complaint) {
    let level = try level(of: queue)
    var inner = Place()
    // The thread of an inline item holds more levels, but none higher: it was allowed to wait here.
    inner.floor = level
    inner.reach = min(place.reach, level)
    inner.isCertain = place.isCertain && !mayBeCancelled && isCounted
    inner.isOnSharedThread =
      hierarchies.isShared[queue] || isInline && place.isOnSharedThread
    inner.coming = place.coming
    try check(item.body, &inner)
  }

  private mutating func checkIterations(_ items: [Item], _ place: inout Place) throws(Complaint) {
    var reach = place.reach
    for item in items {
      try take(item.id)
      var inner = place
      inner.isOnSharedThread = true
      try check(item.body, &inner)
      reach = min(reach, inner.reach)
    }
    place.reach = reach
  }

  private mutating func checkPermit(
    _ semaphore: Int, _ patience: Int?, _ body: [Op], _ place: inout Place
  ) throws(Complaint) {
    try demand(program.semaphores.indices.contains(semaphore), "no semaphore \(semaphore)")
    let spec = program.semaphores[semaphore]
    try demand(spec.value > 0, "semaphore \(semaphore) has no permit to give")
    var inner = place
    if patience == nil {
      try wait(for: spec.level, &inner)
    } else {
      inner.isCertain = false
    }
    inner.floor = max(place.floor, spec.level)
    try check(body, &inner)
    place.reach = min(place.reach, inner.reach)
  }

  private mutating func checkHandshake(
    _ semaphore: Int, _ submission: Submission, _ place: inout Place
  ) throws(Complaint) {
    try demand(program.semaphores.indices.contains(semaphore), "no semaphore \(semaphore)")
    let level = program.semaphores[semaphore].level
    try demandPlain(submission)
    try take(submission.item.id)
    try demand(
      try self.level(of: submission.queue) >= level, "the signalling queue is below the semaphore")
    try check(submission, &place)
    try wait(for: level, &place)
  }

  private mutating func checkActivation(
    _ queue: Int, _ target: Int?, _ place: Place
  ) throws(Complaint) {
    let level = try suspendable(queue)
    try demand(program.queues[queue].isInactive, "queue \(queue) is active from the start")
    try demand(activated.insert(queue).inserted, "queue \(queue) is activated twice")
    try demand(place.isCertain, "the activation of queue \(queue) may be left out")
    try demand(place.reach > level, "the activation of queue \(queue) may need it")
    try checkTarget(target, of: queue)
  }

  private func waitForItem(_ item: Int, _ place: inout Place) throws(Complaint) {
    guard let found = handles[item] else { throw Complaint(description: "no handle \(item)") }
    if found.way.isInline { return }
    try wait(for: try level(of: found.queue), &place)
  }
}
