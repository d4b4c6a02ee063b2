// Room: ModelChecker/Search. The schedule at work: who moved at each step, and what must be tried instead.
// Executions are run again from their beginning: the steps below `depth` repeat the schedule, the others
// extend it. Source-DPOR with sleep sets: Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos
// Sagonas, "Optimal Dynamic Partial Order Reduction" (2014).
//   race      two steps of different threads that do not commute, nothing that is ordered between them:
//             the other order must be tried as well, by one of the threads that can begin it
//   sleep set threads whose next step was tried here before; trying it later, after steps that commute with
//             it, leads nowhere new
// An outcome that a step may have besides its first (an older value, a failure for no reason) is a branch of
// that step: all are tried before the thread counts as done.

final class Search {
  let strategy: Strategy
  private(set) var nodes: UnsafeMutablePointer<Node>
  private var capacity = 4096
  /// Steps of the schedule; `depth` of them have been made in this execution.
  private(set) var count = 0
  private(set) var depth = 0
  /// From here on races have not been looked for.
  private var firstNew = 0
  /// All that can move was tried before: this execution only runs to its end.
  private(set) var isRedundant = false
  /// A schedule that is repeated as it is.
  private var isReplay = false
  private var random: Random
  /// For `priorities`: each thread's, and the steps at which the runner falls behind all others.
  private var priorities = [Int](repeating: 0, count: Threads.most)
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

  /// Begins the search anew.
  func forget() {
    count = 0
    longest = 16
  }

  func beginExecution() {
    depth = 0
    firstNew = max(0, count - 1)
    isRedundant = false
    if case .priorities(let changes, _, _) = strategy, !isReplay {
      for index in 0..<Threads.most {
        priorities[index] = changes + Int(truncatingIfNeeded: random.next() >> 16)
      }
      changePoints = (0..<max(0, changes - 1)).map { _ in random.below(longest) }
    }
  }

  // MARK: Who moves

  @inline(__always)
  func choose(among enabled: ThreadSet, after last: Int, in execution: Execution) -> Int? {
    defer { depth += 1 }
    if depth < count {
      let chosen = Int(nodes[depth].chosen)
      guard enabled.contains(thread: chosen) else {
        execution.recordFailure(
          """
          The program took another course although the schedule was the same: thread \(chosen) could not \
          move at step \(depth). It depends on something that the checker does not control: an address, \
          a clock, a global that survives executions.
          """)
        return nil
      }
      nodes[depth].enabled = enabled
      return chosen
    }
    return extend(enabled, after: last, in: execution)
  }

  private func extend(_ enabled: ThreadSet, after last: Int, in execution: Execution) -> Int? {
    if depth >= capacity { grow() }
    var node = Node()
    node.enabled = enabled
    switch strategy {
    case .exhaustive:
      node.sleep = isRedundant ? 0 : sleepSet(in: execution)
      let awake = enabled & ~node.sleep
      // Everything was tried before. The execution is run to its end all the same, so that what it made is
      // let go of.
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
    node.preemptions = preemptions(of: Int(node.chosen), at: depth, enabled)
    nodes[depth] = node
    if !isRedundant { count = depth + 1 }
    return Int(node.chosen)
  }

  /// To go on with the same thread costs no switch.
  private func preferred(of set: ThreadSet, _ last: Int) -> Int {
    set.contains(thread: last) ? last : set.first
  }

  private func mostUrgent(of enabled: ThreadSet) -> Int {
    var best = enabled.first
    for thread in 0..<Threads.most
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

  /// Those who slept before the last step, and whose own step commutes with it.
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

  private func preemptions(of chosen: Int, at depth: Int, _ enabled: ThreadSet) -> UInt16 {
    guard depth > 0 else { return 0 }
    let before = nodes[depth - 1]
    let interrupts =
      chosen != Int(before.chosen) && enabled.contains(thread: Int(before.chosen))
    return before.preemptions + (interrupts ? 1 : 0)
  }

  // MARK: Which outcome

  /// One of `choices` outcomes of the step at work; the first one comes first.
  @inline(__always)
  func choice(of choices: Int) -> Int {
    if choices <= 1 { return 0 }
    let place = depth - 1
    if place < firstNew || (isReplay && place < count) || nodes[place].choices > 1 {
      return Int(nodes[place].choice)
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

  /// Turns the schedule into the next one to be tried; false when there is none.
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
          of: Int(last.pointee.chosen), at: count - 1, last.pointee.enabled)
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

// MARK: Races

extension Search {
  /// The step at work has been made: orders it among the others, and finds those with which it races.
  @inline(__always)
  func record(
    _ kind: Step.Kind, _ location: UnsafeMutablePointer<Location>?, in execution: Execution
  ) {
    let place = depth - 1
    let thread = execution.running
    let before = execution.threads[thread].order
    var clock = before
    var partners = Partners()
    if let location {
      if kind.value != .nothing {
        collect(&location.pointee.value, kind.value, place, thread, &clock, &partners)
      }
      if kind.sleepers != .nothing {
        collect(&location.pointee.sleepers, kind.sleepers, place, thread, &clock, &partners)
      }
    }
    clock[thread] = before[thread] &+ 1
    execution.threads[thread].order = clock
    nodes[place].kind = kind
    nodes[place].location = location
    nodes[place].clock = clock
    if partners.count > 0 && place >= firstNew && !isRedundant && isReduced {
      considerRaces(partners, before, place)
    }
  }

  private var isReduced: Bool {
    switch strategy {
    case .exhaustive, .bounded: true
    case .naive, .random, .priorities: false
    }
  }

  /// The steps of other threads on which the one at work depends.
  private struct Partners {
    var steps = SIMD32<Int32>(repeating: Footprint.nobody)
    var count = 0
    @inline(__always)
    mutating func add(_ step: Int32) {
      steps[count] = step
      count += 1
    }
  }

  @inline(__always)
  private func collect(
    _ footprint: inout Footprint, _ access: Access, _ place: Int, _ thread: Int,
    _ clock: inout VectorClock, _ partners: inout Partners
  ) {
    if footprint.lastWrite != Footprint.nobody {
      let node = nodes + Int(footprint.lastWrite)
      clock.join(node.pointee.clock)
      if Int(node.pointee.chosen) != thread { partners.add(footprint.lastWrite) }
    }
    guard access == .write else {
      footprint.reads[thread] = Int32(place)
      return
    }
    if footprint.reads != SIMD8(repeating: Footprint.nobody) {
      for other in 0..<Threads.most where footprint.reads[other] != Footprint.nobody {
        clock.join(nodes[Int(footprint.reads[other])].clock)
        if other != thread { partners.add(footprint.reads[other]) }
      }
      footprint.reads = SIMD8(repeating: Footprint.nobody)
    }
    footprint.lastWrite = Int32(place)
  }

  @inline(never)
  private func considerRaces(_ partners: Partners, _ before: VectorClock, _ place: Int) {
    for index in 0..<partners.count {
      let earlier = Int(partners.steps[index])
      let node = nodes[earlier]
      let other = Int(node.chosen)
      let time = node.clock[other]
      // The thread knew of it before this step, so the two cannot be swapped.
      if before[other] >= time { continue }
      // Another partner stands between the two.
      var isBetween = false
      for third in 0..<partners.count where Int(partners.steps[third]) != earlier {
        if nodes[Int(partners.steps[third])].clock[other] >= time { isBetween = true }
      }
      if !isBetween { reverse(earlier, place) }
    }
  }

  /// Sees to it that the step at `later` is tried before the one at `earlier`: by itself, or after steps in
  /// between that it needs. One of the threads that can begin such a sequence is enough.
  private func reverse(_ earlier: Int, _ later: Int) {
    let other = Int(nodes[earlier].chosen)
    let time = nodes[earlier].clock[other]
    var firstTimes = VectorClock.never
    var initials: ThreadSet = 0
    for index in earlier + 1...later {
      let node = nodes + index
      // What depends on the earlier step is no part of the sequence, but for the later step itself.
      if index != later && node.pointee.clock[other] >= time { continue }
      let thread = Int(node.pointee.chosen)
      if !node.pointee.clock.reachesAny(of: firstTimes) { initials |= .one(thread) }
      if firstTimes[thread] == .max { firstTimes[thread] = node.pointee.clock[thread] }
    }
    let wanted = Int(nodes[later].chosen)
    if case .bounded(let most) = strategy { return addBounded(earlier, wanted, most: most) }
    if nodes[earlier].backtrack & initials != 0 { return }
    let possible = initials & nodes[earlier].enabled
    if possible == 0 {
      nodes[earlier].backtrack |= nodes[earlier].enabled
    } else {
      nodes[earlier].backtrack |= .one(possible.contains(thread: wanted) ? wanted : possible.first)
    }
  }

  /// With a bound the thread must also be tried where a switch to it is free: at the beginning of the
  /// interrupted thread's turn. Katherine Coons, Madan Musuvathi, Kathryn McKinley, "Bounded Partial-Order
  /// Reduction" (2013).
  private func addBounded(_ place: Int, _ wanted: Int, most: Int) {
    add(wanted, at: place, most: most)
    var begin = place
    while begin > 0 && nodes[begin - 1].chosen == nodes[place].chosen { begin -= 1 }
    add(wanted, at: begin, most: most)
  }

  private func add(_ wanted: Int, at place: Int, most: Int) {
    let enabled = nodes[place].enabled
    let threads = enabled.contains(thread: wanted) ? ThreadSet.one(wanted) : enabled
    var rest = threads
    while rest != 0 {
      let thread = rest.first
      rest &= rest &- 1
      if preemptions(of: thread, at: place, enabled) <= UInt16(most) {
        nodes[place].backtrack |= .one(thread)
      }
    }
  }

  /// The step at work has woken a thread whose deadline might have come first.
  func noteWake(of thread: Int, in execution: Execution) {
    let place = depth - 1
    if nodes[place].enabled.contains(thread: thread) && !isRedundant {
      nodes[place].backtrack |= .one(thread)
    }
  }
}
