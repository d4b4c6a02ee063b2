// Room: ModelChecker/Search, the races: which steps depend on each other, and which of them must be
// tried in the other order.

/// For each thread its last step that moved the clock and its last step that read it, as indices of
/// the schedule. Unlike for a word, neither kind supersedes the other: steps that move the clock
/// commute, as readers do.
struct ClockFootprint {
  var moves = SIMD8<Int32>(repeating: Footprint.none)
  var reads = SIMD8<Int32>(repeating: Footprint.none)
}

extension Search {
  /// Called after the current step: orders it among the others, and finds the steps with which it
  /// races.
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
    if kind.clock != .nothing { collectClock(kind.clock, place, thread, &clock, &partners) }
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

  /// The steps of other threads on which the current step depends.
  private struct Partners {
    var steps = SIMD32<Int32>(repeating: Footprint.none)
    var count = 0
    @inline(__always)
    mutating func add(_ step: Int32) {
      assert(count < steps.scalarCount)
      steps[count] = step
      count += 1
    }
  }

  @inline(__always)
  private func collect(
    _ footprint: inout Footprint, _ access: Access, _ place: Int, _ thread: Int,
    _ clock: inout VectorClock, _ partners: inout Partners
  ) {
    if footprint.lastWrite != Footprint.none {
      let node = nodes + Int(footprint.lastWrite)
      clock.join(node.pointee.clock)
      if Int(node.pointee.chosen) != thread { partners.add(footprint.lastWrite) }
    }
    guard access == .write else {
      footprint.reads[thread] = Int32(place)
      return
    }
    if footprint.reads != SIMD8(repeating: Footprint.none) {
      for other in 0..<Threads.maxCount where footprint.reads[other] != Footprint.none {
        clock.join(nodes[Int(footprint.reads[other])].clock)
        if other != thread { partners.add(footprint.reads[other]) }
      }
      footprint.reads = SIMD8(repeating: Footprint.none)
    }
    footprint.lastWrite = Int32(place)
  }

  @inline(never)
  private func collectClock(
    _ access: Access, _ place: Int, _ thread: Int, _ order: inout VectorClock,
    _ partners: inout Partners
  ) {
    let others = access == .read ? clock.moves : clock.reads
    for other in 0..<Threads.maxCount where other != thread && others[other] != Footprint.none {
      order.join(nodes[Int(others[other])].clock)
      partners.add(others[other])
    }
    if access == .read {
      clock.reads[thread] = Int32(place)
    } else {
      clock.moves[thread] = Int32(place)
    }
  }

  /// A word has ended after the current step and before the next one. The thread that ends a word
  /// does not ask the search first, so the end is part of that step, which then depends on every
  /// use of the word. A use that no order keeps before the end must be tried after it.
  @inline(never)
  func recordEnd(of location: UnsafeMutablePointer<Location>, in execution: Execution) {
    guard depth > 0 else { return }
    let place = depth - 1
    let thread = Int(nodes[place].chosen)
    let before = nodes[place].clock
    var clock = before
    var partners = Partners()
    collect(&location.pointee.value, .write, place, thread, &clock, &partners)
    collect(&location.pointee.sleepers, .write, place, thread, &clock, &partners)
    nodes[place].clock = clock
    execution.threads[thread].order.join(clock)
    execution.threads[execution.running].order.join(clock)
    if partners.count > 0 && place >= firstNew && !isRedundant && isReduced {
      considerRaces(partners, before, place)
    }
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
      // Another partner is ordered between the two.
      var isBetween = false
      for third in 0..<partners.count where Int(partners.steps[third]) != earlier {
        if nodes[Int(partners.steps[third])].clock[other] >= time { isBetween = true }
      }
      if !isBetween { reverse(earlier, place) }
    }
  }

  /// Makes the search try the step at `later` before the step at `earlier`: alone, or after steps
  /// in between that it needs. One of the threads that can begin such a sequence is enough.
  private func reverse(_ earlier: Int, _ later: Int) {
    let other = Int(nodes[earlier].chosen)
    let time = nodes[earlier].clock[other]
    var firstTimes = VectorClock.never
    var initials: ThreadSet = 0
    for index in earlier + 1...later {
      let node = nodes + index
      // Steps that depend on the earlier step are not part of the sequence, except the later step
      // itself.
      if index != later && node.pointee.clock[other] >= time { continue }
      let thread = Int(node.pointee.chosen)
      if !node.pointee.clock.reachesAny(of: firstTimes) { initials |= .one(thread) }
      if firstTimes[thread] == .max { firstTimes[thread] = node.pointee.clock[thread] }
    }
    let wanted = Int(nodes[later].chosen)
    if case .bounded(let bound) = strategy { return addBounded(earlier, wanted, bound) }
    if nodes[earlier].backtrack & initials != 0 { return }
    let possible = initials & nodes[earlier].enabled
    if possible == 0 {
      nodes[earlier].backtrack |= nodes[earlier].enabled
    } else {
      nodes[earlier].backtrack |= .one(possible.contains(thread: wanted) ? wanted : possible.first)
    }
  }

  /// With a bound, the thread must also be tried where a switch to it costs no preemption: at the
  /// beginning of the interrupted thread's turn, or where that thread slept. Katherine Coons, Madan
  /// Musuvathi, Kathryn McKinley, "Bounded Partial-Order Reduction" (2013).
  private func addBounded(_ place: Int, _ wanted: Int, _ bound: Int) {
    add(wanted, at: place, bound)
    var earlier = place
    while earlier > 0 && nodes[earlier - 1].chosen == nodes[place].chosen {
      if !nodes[earlier].ready.contains(thread: Int(nodes[place].chosen)) {
        add(wanted, at: earlier, bound)
      }
      earlier -= 1
    }
    add(wanted, at: earlier, bound)
  }

  private func add(_ wanted: Int, at place: Int, _ bound: Int) {
    let enabled = nodes[place].enabled
    let threads = enabled.contains(thread: wanted) ? ThreadSet.one(wanted) : enabled
    var rest = threads
    while rest != 0 {
      let thread = rest.first
      rest &= rest &- 1
      if preemptions(of: thread, at: place, nodes[place].ready) <= UInt16(bound) {
        nodes[place].backtrack |= .one(thread)
      }
    }
  }
}
