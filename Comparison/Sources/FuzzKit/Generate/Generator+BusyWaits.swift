// Purpose: generates busy waits and meetings: items that wait for each other without a call into
// the engine. Legality+BusyWaits.swift argues which of them end.
//
// They use separate dice, so that the other programs of a seed do not change.

extension Generator {
  /// Returns a wait for an item that was submitted earlier or is submitted here; nothing if no wait
  /// is allowed here.
  mutating func busyWait(_ place: inout Place) -> [Op] {
    guard mayWait(place) else { return [] }
    if place.isOnSharedThread && !capabilities.contains(.startsWhateverRuns) { return [] }
    var ops: [Op] = []
    var known = place.coming.filter { $0.level > place.floor }
    if known.isEmpty || waitDice.chance(30),
      let queue = waitDice.pick(queues(from: place.floor + 1))
    {
      let submission = Submission(item(place, on: queue), queue: queue)
      known = [(submission.item.id, program.queues[queue].level)]
      place.coming += known
      ops.append(.submit(submission))
    }
    guard let (item, _) = waitDice.pick(known) else { return [] }
    let isHungry = !place.isOnSharedThread || features.contains(.slowWaits)
    ops.append(
      .busyWait(
        id: newID(), item: item, until: waitDice.chance(50) ? .begun : .ended,
        by: polling(isHungry: isHungry)))
    return ops
  }

  /// - Parameters:
  ///   - isHungry: whether the waiting thread may use all the CPU time that it gets.
  ///   - count: the number of threads that wait like this. Many threads that nap for a few
  ///     microseconds use as much CPU time as if they spun.
  private mutating func polling(isHungry: Bool, count: Int = 1) -> Polling {
    if !isHungry || waitDice.chance(40) {
      let shortest = count > 8 ? 20 * count : 10
      return Polling(.nap, amount: waitDice.within(shortest...shortest + 400))
    }
    switch waitDice.below(3) {
    case 0: return Polling(.yield)
    case 1: return Polling(.spin)
    default: return Polling(.compute, amount: waitDice.within(10...3000))
    }
  }

  // MARK: Meetings

  /// Adds meetings. Comes last, because barriers and targets limit where a meeting may be.
  mutating func insertMeetings() {
    for _ in 0..<(waitDice.chance(25) ? 2 : 1) {
      let hosts = meetingHosts()
      guard hosts.count > 1 else { continue }
      let hierarchies = Hierarchies(program)
      met.formUnion(hosts.compactMap { hierarchies.number[$0] })
      let isShared = hosts.contains { hierarchies.isShared[$0] }
      let isHungry = features.contains(.slowWaits) || !isShared && hosts.count <= 8
      let polling = polling(isHungry: isHungry, count: hosts.count)
      let members = hosts.map { member(on: $0, hosts, hierarchies) }
      insert(.meeting(id: newID(), by: polling, members))
    }
  }

  private mutating func insert(_ op: Op) {
    guard let place = waitDice.pick(program.allOps)?.id else {
      program.drivers[0].append(op)
      return
    }
    program = program.flatMapOps { $0.id == place ? [$0, op] : [$0] }
  }

  private mutating func member(
    on host: Int, _ hosts: [Int], _ hierarchies: Hierarchies
  ) -> Submission {
    let body: [Op] =
      waitDice.chance(30) ? [.spin(id: newID(), amount: waitDice.within(1...40))] : []
    var member = Submission(Item(newID(), body), queue: host)
    if features.contains(.qos) && waitDice.chance(25) { member.qos = waitDice.below(6) }
    let hierarchy = hierarchies.number[host]
    let neighbours = hosts.filter { hierarchies.number[$0] == hierarchy }
    if features.contains(.barriers) && hierarchy != nil && neighbours.count == 1 {
      member.isBarrier = waitDice.chance(30)
    }
    if features.contains(.groups) && waitDice.chance(20) {
      let group = waitDice.below(program.groups.count)
      if program.groups[group].level <= program.queues[host].level {
        member.membership = .init(group, isByHand: waitDice.chance(30))
      }
    }
    return member
  }

  /// Returns the members' queues, one for each member. Some are created for the meeting.
  private mutating func meetingHosts() -> [Int] {
    let level = waitDice.below(levels)
    var count = waitDice.within(2...8)
    // A large meeting takes longer, and shows little more if its members compute.
    if features.contains(.slowWaits) {
      count = waitDice.within(3...4)
    } else if waitDice.chance(1) {
      count = waitDice.within(9...64)
    }
    switch waitDice.below(capabilities.contains(.startsWhateverRuns) ? 5 : 2) {
    case 0: return (0..<count).compactMap { _ in newQueue(.serial, level) }
    case 2:
      guard let queue = newQueue(.concurrent, level) else { return [] }
      return Array(repeating: queue, count: count)
    case 3:
      guard let queue = newQueue(.global, level) else { return [] }
      return Array(repeating: queue, count: count)
    case 4: return children(count, level)
    default: return mixedHosts(count, level)
    }
  }

  /// Creates serial queues that target one concurrent queue.
  private mutating func children(_ count: Int, _ level: Int) -> [Int] {
    let first = program.queues.count
    let room = min(count, 63 - first)
    guard room > 1 else { return [] }
    for _ in 0..<room {
      program.queues.append(QueueSpec(.serial, level: level, target: first + room))
    }
    program.queues.append(QueueSpec(.concurrent, level: level))
    return Array(first..<first + room)
  }

  /// Returns any queues whose items can run at the same time.
  private mutating func mixedHosts(_ count: Int, _ level: Int) -> [Int] {
    var hosts: [Int] = []
    let kinds: [QueueSpec.Kind] =
      capabilities.contains(.startsWhateverRuns)
      ? [.serial, .serial, .concurrent, .global] : [.serial]
    let old = program.queues.indices.filter {
      program.queues[$0].level == level && program.queues[$0].kind != .global
    }
    for _ in 0..<count {
      let known = waitDice.chance(50) ? waitDice.pick(old + hosts) : nil
      let host = known ?? newQueue(waitDice.pick(kinds)!, level)
      if let host, isFree(host, beside: hosts) { hosts.append(host) }
    }
    return hosts
  }

  private func isFree(_ host: Int, beside hosts: [Int]) -> Bool {
    let hierarchies = Hierarchies(program)
    if let hierarchy = hierarchies.number[host], met.contains(hierarchy) { return false }
    if hierarchies.isShared[host] && !capabilities.contains(.startsWhateverRuns) { return false }
    return hierarchies.obstacle(toMeetingOn: hosts + [host]) == nil
  }

  private mutating func newQueue(_ kind: QueueSpec.Kind, _ level: Int) -> Int? {
    guard program.queues.count < 64 else { return nil }
    var spec = QueueSpec(kind, level: level)
    if features.contains(.qos) && waitDice.chance(kind == .global ? 100 : 20) {
      spec.qos = waitDice.within(1...5)
    }
    program.queues.append(spec)
    return program.queues.count - 1
  }
}
