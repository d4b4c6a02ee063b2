// Purpose: generates the steps of a list, in order, each of a random kind that is legal at its
// position.

extension Generator {
  mutating func steps(atMost count: Int, _ place: inout Place) -> [Op] {
    var ops: [Op] = []
    for _ in 0..<count {
      if budget <= 0 { break }
      if features.contains(.busyWaits) && waitDice.chance(30) {
        ops += busyWait(&place)
      } else if let op = step(&place) {
        ops.append(op)
      }
    }
    return ops
  }

  /// Generates the list of steps inside a step. The deeper it is nested, the shorter it is.
  private mutating func body(_ place: Place) -> [Op] {
    if place.depth > 3 || dice.chance(45) { return filler() }
    var inner = place
    inner.depth += 1
    inner.handles = []
    return steps(atMost: dice.within(1...4), &inner)
  }

  /// Generates spinning, so that items take different times.
  private mutating func filler() -> [Op] {
    guard features.contains(.spins) && dice.chance(40) else { return [] }
    return [.spin(id: newID(), amount: dice.within(1...40))]
  }

  mutating func item(_ place: Place, on queue: Int) -> Item {
    let id = newID()
    budget -= 1
    var inner = Place()
    inner.depth = place.depth
    inner.queue = queue
    inner.floor = program.queues[queue].level
    inner.isOnSharedThread = program.isShared(queue)
    inner.coming = place.coming
    return Item(id, body(inner))
  }

  func mayWait(_ place: Place) -> Bool {
    !place.isOnSharedThread || capabilities.contains(.blocksAnywhere)
  }

  func queues(from level: Int) -> [Int] {
    program.queues.indices.filter { program.queues[$0].level >= level }
  }

  private var privateQueues: [Int] {
    program.queues.indices.filter { program.queues[$0].isPrivate }
  }

  private mutating func step(_ place: inout Place) -> Op? {
    budget -= 1
    switch dice.below(20) {
    case 0..<9: return submission(&place)
    case 9 where features.contains(.iterations): return iterations(place)
    case 10...11 where features.contains(.groups): return groupStep(place)
    case 12 where features.contains(.permits): return permit(place)
    case 13 where features.contains(.handshakes): return handshake(place)
    case 14...15 where features.contains(.suspension): return suspension(place)
    case 16 where features.contains(.retargets): return retarget()
    case 16...17 where features.contains(.handles): return handleStep(&place)
    case 18 where features.contains(.specifics):
      return .readSpecific(id: newID(), key: dice.below(specificKeyCount))
    case 19 where features.contains(.cancels):
      return dice.pick(cancellable).map { .cancel(id: newID(), item: $0) }
    default: return submission(&place)
    }
  }

  // MARK: Submissions

  private mutating func submission(_ place: inout Place) -> Op? {
    let higher = mayWait(place) ? queues(from: place.floor + 1) : []
    if features.contains(.sync) && dice.chance(35), let queue = dice.pick(higher) {
      return inlineSubmission(queue, &place)
    }
    let queue = dice.below(program.queues.count)
    var submission = Submission(item(place, on: queue), queue: queue)
    if features.contains(.barriers) { submission.isBarrier = dice.chance(25) }
    if features.contains(.qos) && dice.chance(25) { submission.qos = dice.below(6) }
    if features.contains(.groups) && dice.chance(40) {
      let group = dice.below(program.groups.count)
      if program.groups[group].level <= program.queues[queue].level {
        submission.membership = .init(group, isByHand: dice.chance(30))
      }
    }
    if features.contains(.after) && dice.chance(12) && !submission.isBarrier
      && submission.membership?.isByHand != false
    {
      submission.way = .after(dice.within(0...300))
    }
    let isByHand = submission.membership?.isByHand ?? false
    if features.contains(.handles) && dice.chance(35) && !isByHand {
      submission.hasHandle = true
      place.handles.append((submission.item.id, program.queues[queue].level))
      if submission.way == .async && program.queues[queue].kind != .global {
        cancellable.append(submission.item.id)
      }
    }
    if features.contains(.tasks) && taskDice.chance(50) { makeTask(&submission) }
    if !submission.hasHandle {
      place.coming.append((submission.item.id, program.queues[queue].level))
    }
    return .submit(submission)
  }

  /// Makes a plain submission one by a task.
  private mutating func makeTask(_ submission: inout Submission) {
    guard submission.way == .async && !submission.isBarrier && !submission.hasHandle else { return }
    let isSerial = program.queues[submission.queue].isSerial
    submission.way = isSerial && taskDice.chance(50) ? .actor(hops: taskDice.below(3)) : .task
    submission.membership?.isByHand = true
  }

  private mutating func inlineSubmission(_ queue: Int, _ place: inout Place) -> Op {
    var submission = Submission(item(place, on: queue), queue: queue, way: .sync)
    if features.contains(.asyncAndWait) && dice.chance(30) { submission.way = .asyncAndWait }
    if features.contains(.barriers) { submission.isBarrier = dice.chance(25) }
    if features.contains(.handles) && dice.chance(25) {
      submission.hasHandle = true
      place.handles.append((submission.item.id, .max))
      cancellable.append(submission.item.id)
    }
    return .submit(submission)
  }

  /// Generates `perform()`, a wait for a handle, or a notification of its end.
  private mutating func handleStep(_ place: inout Place) -> Op? {
    if dice.chance(30) {
      let id = newID()
      let body = body(place)
      cancellable.append(id)
      return .submit(
        Submission(Item(id, body), queue: place.queue ?? 0, way: .perform, hasHandle: true))
    }
    guard !place.handles.isEmpty else { return nil }
    let which = dice.below(place.handles.count)
    let handle = place.handles[which]
    if dice.chance(50) {
      let queue = dice.below(program.queues.count)
      return .notifyItem(of: handle.item, queue: queue, item(place, on: queue))
    }
    let returnsAtOnce = handle.level == .max
    guard returnsAtOnce || handle.level > place.floor && mayWait(place) else { return nil }
    place.handles.remove(at: which)
    return .waitItem(id: newID(), item: handle.item)
  }

  private mutating func iterations(_ place: Place) -> Op {
    var inner = place
    inner.queue = nil
    inner.isOnSharedThread = true
    let id = newID()
    let items = (0..<dice.within(1...5)).map { _ in
      Item(newID(), dice.chance(30) ? body(inner) : filler())
    }
    budget -= items.count / 2
    return .iterate(id: id, items)
  }

  // MARK: Groups and semaphores

  private mutating func groupStep(_ place: Place) -> Op? {
    let group = dice.below(program.groups.count)
    if dice.chance(40) {
      let queue = dice.below(program.queues.count)
      return .notify(group: group, queue: queue, item(place, on: queue))
    }
    if dice.chance(25) {
      return .waitGroup(id: newID(), group: group, patience: dice.within(0...30))
    }
    guard program.groups[group].level > place.floor && mayWait(place) else { return nil }
    return .waitGroup(id: newID(), group: group, patience: nil)
  }

  private mutating func permit(_ place: Place) -> Op? {
    let semaphore = dice.below(program.semaphores.count)
    let spec = program.semaphores[semaphore]
    guard spec.value > 0 else { return nil }
    var inner = place
    inner.floor = max(place.floor, spec.level)
    let patience = dice.chance(30) ? dice.within(0...30) : nil
    guard patience != nil || spec.level > place.floor && mayWait(place) else { return nil }
    return .permit(
      id: newID(), semaphore: semaphore, patience: patience,
      body: dice.chance(50) ? body(inner) : filler())
  }

  private mutating func handshake(_ place: Place) -> Op? {
    let semaphore = dice.below(program.semaphores.count)
    let level = program.semaphores[semaphore].level
    guard level > place.floor && mayWait(place), let queue = dice.pick(queues(from: level)) else {
      return nil
    }
    let id = newID()
    return .handshake(
      id: id, semaphore: semaphore, Submission(item(place, on: queue), queue: queue))
  }

  // MARK: Suspension and targets

  private mutating func suspension(_ place: Place) -> Op? {
    // An item of the queue itself is preferred: there the suspension rule forbids more starts.
    var candidates = privateQueues
    if let queue = place.queue, program.queues[queue].isPrivate, dice.chance(50) {
      candidates = [queue]
    }
    guard let queue = dice.pick(candidates) else { return nil }
    let level = program.queues[queue].level
    let higher = queues(from: level + 1)
    if dice.chance(50), let other = dice.pick(higher) {
      let id = newID()
      return .suspendUntil(
        id: id, queue: queue, Submission(item(place, on: other), queue: other))
    }
    var inner = place
    inner.floor = max(place.floor, level)
    return .suspended(id: newID(), queue: queue, body: body(inner))
  }

  private mutating func retarget() -> Op? {
    let movable = privateQueues.filter { !program.queues[$0].isInactive }
    guard let queue = dice.pick(movable) else { return nil }
    let target = dice.chance(20) ? nil : dice.pick(targets(of: queue))
    guard mayLead(queue, to: target) else { return nil }
    return .retarget(id: newID(), queue: queue, target: target)
  }
}
