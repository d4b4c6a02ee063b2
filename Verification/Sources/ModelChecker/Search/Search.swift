// Room: ModelChecker/Search. The current schedule: the thread that moved at each step, and the
// alternatives to try. Each execution starts from the beginning: the steps below `depth` repeat the
// schedule, later steps extend it. Source-DPOR with sleep sets: Parosh Abdulla, Stavros Aronis,
// Bengt Jonsson, Konstantinos Sagonas, "Optimal Dynamic Partial Order Reduction" (2014).
//   race      two steps of different threads that do not commute, with no step ordered between:
//             the other order must be tried too, by one of the threads that can begin it
//   sleep set threads whose next step was tried here before; trying it again, after steps that
//             commute with it, is redundant
// An outcome of a step other than its first (an older value, a spurious failure) is a branch of
// that step. All outcomes are tried before the thread counts as done.

final class Search {
  let strategy: Strategy
  var nodes: UnsafeMutablePointer<Node>
  private var capacity = 4096
  /// Steps of the schedule; `depth` of them have been made in this execution.
  private(set) var count = 0
  private(set) var depth = 0
  /// The first step for which races have not been searched.
  private(set) var firstNew = 0
  /// Every thread that can move was tried before: this execution only runs to its end.
  private(set) var isRedundant = false
  /// The schedule is repeated without changes.
  private var isReplay = false
  /// A step had fewer outcomes than before at the same position of the same schedule.
  private(set) var isOffCourse = false
  /// The last steps that touched the clock.
  var clock = ClockFootprint()
  private var random: Random
  /// For `priorities`: each thread's priority, and the steps at which the running thread drops
  /// below all others.
  private var priorities = [Int](repeating: 0, count: Threads.maxCount)
  private var changePoints: [Int] = []
  private var longest = 16

  init(strategy: Strategy) {
    self.strategy = strategy
    nodes = .allocate(capacity: capacity)
    nodes.initialize(repeating: Node(), count: capacity)
    switch strategy {
    case .random(_, let seed), .priorities(_, _, let seed): random = Random(seed: seed)
    default: random = Random(seed: 0)
    }
  }

  deinit { nodes.deallocate() }

  var schedule: Schedule {
    Schedule(steps: (0..<depth).map { .init(thread: nodes[$0].chosen, choice: nodes[$0].choice) })
  }

  /// Makes the next execution repeat a schedule.
  func repeatExactly(_ schedule: Schedule) {
    while capacity < schedule.steps.count { grow() }
    for (index, step) in schedule.steps.enumerated() {
      nodes[index] = Node()
      nodes[index].chosen = step.thread
      nodes[index].choice = step.choice
    }
    count = schedule.steps.count
    isReplay = true
  }

  /// Restarts the search.
  func forget() {
    count = 0
    longest = 16
  }

  func beginExecution() {
    depth = 0
    firstNew = max(0, count - 1)
    isRedundant = false
    isOffCourse = false
    clock = ClockFootprint()
    if case .priorities(let changes, _, _) = strategy, !isReplay {
      for index in 0..<Threads.maxCount {
        priorities[index] = changes + Int(truncatingIfNeeded: random.next() >> 16)
      }
      changePoints = (0..<max(0, changes - 1)).map { _ in random.below(longest) }
    }
  }

  // MARK: Choosing a thread

  /// Chooses from the threads in `enabled`. Those in `dozing` sleep and would time out.
  @inline(__always)
  func choose(
    among enabled: ThreadSet, dozing: ThreadSet, after last: Int, in execution: Execution
  ) -> Int? {
    if depth < count {
      let chosen = Int(nodes[depth].chosen)
      guard enabled.contains(thread: chosen) else {
        execution.recordFailure(Report.otherCourse)
        return nil
      }
      nodes[depth].enabled = enabled
      nodes[depth].dozing = dozing
      depth += 1
      return chosen
    }
    let chosen = extend(enabled, dozing, after: last, in: execution)
    depth += 1
    return chosen
  }

  private func extend(
    _ enabled: ThreadSet, _ dozing: ThreadSet, after last: Int, in execution: Execution
  ) -> Int {
    if depth >= capacity { grow() }
    var node = Node()
    node.enabled = enabled
    node.dozing = dozing
    switch strategy {
    case .exhaustive:
      node.sleep = isRedundant ? 0 : sleepSet(in: execution)
      let awake = enabled & ~node.sleep
      // Everything was tried before. The execution still runs to its end, to release what it
      // created.
      if awake == 0 { isRedundant = true }
      node.chosen = UInt8(preferred(of: awake == 0 ? enabled : awake, last))
      node.backtrack = .one(Int(node.chosen))
    case .bounded:
      node.chosen = UInt8(preferred(of: enabled, last))
      node.backtrack = .one(Int(node.chosen))
    case .naive:
      node.chosen = UInt8(enabled.first)
      node.backtrack = enabled
    case .random:
      node.chosen = UInt8(isReplay ? preferred(of: enabled, last) : random.member(of: enabled))
    case .priorities:
      node.chosen = UInt8(isReplay ? preferred(of: enabled, last) : mostUrgent(of: enabled))
    }
    node.preemptions = preemptions(of: Int(node.chosen), at: depth, node.ready)
    nodes[depth] = node
    if !isRedundant { count = depth + 1 }
    return Int(node.chosen)
  }

  /// Prefers the last thread: continuing it costs no switch.
  private func preferred(of set: ThreadSet, _ last: Int) -> Int {
    set.contains(thread: last) ? last : set.first
  }

  private func mostUrgent(of enabled: ThreadSet) -> Int {
    var best = enabled.first
    for thread in 0..<Threads.maxCount
    where enabled.contains(thread: thread) && priorities[thread] > priorities[best] {
      best = thread
    }
    if let place = changePoints.firstIndex(of: depth) {
      priorities[best] = place - changePoints.count
      changePoints[place] = -1
      return mostUrgent(of: enabled)
    }
    return best
  }

  /// The threads that were asleep or already tried before the last step and whose next step
  /// commutes with it.
  private func sleepSet(in execution: Execution) -> ThreadSet {
    guard depth > 0 else { return 0 }
    let before = nodes[depth - 1]
    var asleep = (before.sleep | before.done) & ~.one(Int(before.chosen))
    var rest = asleep
    while rest != 0 {
      let thread = rest.first
      rest &= rest &- 1
      if !execution.threads[thread].pending.isIndependent(of: before.kind, before.location) {
        asleep &= ~.one(thread)
      }
    }
    return asleep
  }

  /// Returns the number of preemptions up to `depth` if `chosen` moves there. A sleeping thread is
  /// not preempted.
  func preemptions(of chosen: Int, at depth: Int, _ ready: ThreadSet) -> UInt16 {
    guard depth > 0 else { return 0 }
    let before = nodes[depth - 1]
    let interrupts = chosen != Int(before.chosen) && ready.contains(thread: Int(before.chosen))
    return before.preemptions + (interrupts ? 1 : 0)
  }

  /// The preemptions of the execution.
  var preemptions: Int { depth == 0 ? 0 : Int(nodes[depth - 1].preemptions) }

  // MARK: Choosing an outcome

  /// Chooses one of `choices` outcomes of the current step, starting with the first.
  @inline(__always)
  func choice(of choices: Int) -> Int {
    if choices <= 1 { return 0 }
    let place = depth - 1
    if place < firstNew || (isReplay && place < count) || nodes[place].choices > 1 {
      let known = Int(nodes[place].choice)
      if known >= choices { isOffCourse = true }
      return min(known, choices - 1)
    }
    switch strategy {
    case .random, .priorities:
      nodes[place].choice = isReplay ? 0 : UInt16(random.below(choices))
    default:
      nodes[place].choices = isRedundant ? 1 : UInt16(choices)
    }
    return Int(nodes[place].choice)
  }

  // MARK: After the execution

  /// Turns the schedule into the next one to try; false if none is left.
  func advance() -> Bool {
    switch strategy {
    case .random, .priorities:
      longest = max(longest, depth)
      count = 0
      return true
    case .exhaustive, .bounded, .naive:
      break
    }
    while count > 0 {
      let last = nodes + (count - 1)
      if last.pointee.choice + 1 < last.pointee.choices {
        last.pointee.choice += 1
        return true
      }
      last.pointee.done |= .one(Int(last.pointee.chosen))
      let left = last.pointee.backtrack & ~last.pointee.done & ~last.pointee.sleep
      if left != 0 {
        last.pointee.chosen = UInt8(left.first)
        last.pointee.choice = 0
        last.pointee.choices = 1
        last.pointee.preemptions = preemptions(
          of: Int(last.pointee.chosen), at: count - 1, last.pointee.ready)
        return true
      }
      count -= 1
    }
    return false
  }

  private func grow() {
    let more = UnsafeMutablePointer<Node>.allocate(capacity: capacity * 2)
    more.moveInitialize(from: nodes, count: capacity)
    (more + capacity).initialize(repeating: Node(), count: capacity)
    nodes.deallocate()
    nodes = more
    capacity *= 2
  }
}
