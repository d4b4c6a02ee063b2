// Room: Lanes/Lane+Drain. How a lane's list is worked off, and by whom.
// The owner of the lane (locked) serves what is first in line:
//   a sync() reader         is counted as running, and granted when the lane has been given up: see AdmittedReaders
//   any other sync()        is handed the lane
//   a shared item           is counted as running and sent to the target
//   an exclusive item       is run here, if this is an activation; else an activation is sent
// Two come here as owners: an activation, run by a worker or by the target lane's own drain, and a
// thread that leaves the lane while work is queued. Only the first may run client code.
// What the lane is worked at changes between two items, and only if the most urgent that is left is another than
// before: see Lane+Override.
// Sleep/wake: nobody sleeps here. Whoever gives the lane up does it in the same exchange that shows
// it that nothing was pushed meanwhile, so a push either finds the lane locked and is seen, or finds
// it idle and sends an activation.
import CLinux

extension Lane {
  /// What the owner found first in line.
  private enum Served {
    /// An exclusive item: run it, or send an activation for it.
    case item(WorkNode)
    /// The lane is no longer the caller's. When `releases`, it no longer holds itself either.
    case gone(releases: Bool)
  }

  static let activationEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let lane = Unmanaged<Lane>.fromOpaque(node.context.unsafelyUnwrapped)
    let summoning = Summoning(node.companion)
    NodeCache.put(node, thread)
    // SAFETY: the node's hold on the lane, which becomes the lane's own if this is the node that drains it;
    // then until drain() says that there is none any more.
    let releases = lane._withUnsafeGuaranteedRef { lane in
      let drains = lane.summons.change {
        $0.answered(summoning.band, generation: summoning.generation)
      }
      return drains ? lane.drain(on: thread, atMost: lane.drainQuota) : true
    }
    if releases { lane.release() }
  }

  /// Drains the lane as its activation. Returns whether the lane stopped holding itself, which the
  /// caller must then release.
  final func drain(on thread: ThreadContext, atMost quota: Int) -> Bool {
    let isBound = kind == .bound
    var frame = gc_frame(previous: thread.pointee.frame, queue: address)
    let outerQoS = thread.pointee.qos
    // What was said before, not the outer frame: that one's lane may be let go without a word here.
    let outerWorkplace = thread.workplace
    // SAFETY: the frame is taken off the thread before this function returns.
    return withUnsafeMutablePointer(to: &frame) { frame in
      thread.pointee.frame = UnsafeMutableRawPointer(frame)
      thread.enterWorkplace(UInt(bitPattern: address))
      showLabel(on: thread)
      defer {
        thread.setWorkplace(outerWorkplace)
        thread.pointee.frame = frame.pointee.previous
        if outerWorkplace != 0 { Self.showOuterLabel(on: thread) }
        thread.pointee.qos = outerQoS
        // What this lane asked of the thread, it asks no longer.
        let outer = PackedQoS(rawValue: outerQoS).place
        if thread.pointee.lent != 0 || thread.pointee.adopted != UInt32(outer.rawValue) {
          Self.settle(thread)
        }
      }
      // Read by raisers after a word that this thread has changed, or one that it will see changed when it
      // takes what is pending.
      if !isBound { owner.store(thread.ownerWord, ordering: .releasing) }
      readInherited()
      // relaxed: more than that shows in the exchange that takes what is pending.
      level = state.load(ordering: .relaxed).urgency
      return drainItems(on: thread, atMost: quota)
    }
  }

  /// What the target hands down may have changed with the target's target, or with a QoS that it was given late. Roots
  /// never change.
  final func readInherited() {
    guard kind != .bound else { return }
    withTarget { target in
      guard target.kind != .root else { return }
      let now = target.handedDown.halfWord
      if now != inherited.load(ordering: .relaxed) { inherited.store(now, ordering: .relaxed) }
    }
  }

  private final func drainItems(on thread: ThreadContext, atMost quota: Int) -> Bool {
    let startTarget = targetReference?.toOpaque()
    // acquiring: pairs with the releasing add in noteChange(); a change we do not see here shows as another number
    // after the item.
    var noticed = takeNotice(of: attention.load(ordering: .acquiring))
    var looksAtSuspension = true
    var left = quota
    // The class of the activation, which the pool has put the thread at: nothing to do for items of that.
    var settled =
      thread.pointee.adopted == UInt32(level.rawValue) ? level : Band.unspecified
    while true {
      switch serve(looksAtSuspension: looksAtSuspension, on: thread) {
      case .gone(let releases): return releases
      case .item(let node):
        if left == 0 {
          putBack(node)
          return moveOn(from: thread)
        }
        left -= 1
        thread.pointee.qos = effectiveQoS(node.traits).rawValue
        let asked = urgency(from: node)
        if asked != settled || unsettled != .nothing {
          settled = settle(before: node, asked, on: thread)
        }
        gc_item_began(thread)
        node.run(on: thread)
      }
      let now = attention.load(ordering: .acquiring)
      looksAtSuspension = now != noticed
      if looksAtSuspension {
        noticed = takeNotice(of: now)
        if targetReference?.toOpaque() != startTarget { return moveOn(from: thread) }
      }
    }
  }

  /// Before an item: the lane is worked at what is asked by it, or behind it. Returns that.
  @inline(never)
  private final func settle(
    before node: WorkNode, _ asked: Band, on thread: ThreadContext
  ) -> Band {
    let asked = unsettled == .notes ? walkedUrgency(from: node) : asked
    if unsettled != .nothing || asked != level { setLevel(asked, on: thread) }
    unsettled = .nothing
    Self.settle(thread, atLeast: level)
    return asked
  }

  /// Ends this activation and sends another: to a new target, or behind what else waits on this one.
  private final func moveOn(from thread: ThreadContext) -> Bool {
    if kind != .bound { owner.store(0, ordering: .relaxed) }
    // The next drainer may let the lane die before this one has left it.
    thread.setWorkplace(0)
    setLevel(urgencyLeft(), leaves: true, on: thread)
    sendActivation(qos: PackedQoS(band: level), from: thread)
    return false
  }

  /// For a thread that owns the lane without being its activation: lets in whoever may go in, and
  /// sends an activation for what must be run.
  final func advance(on thread: ThreadContext) {
    switch serve(looksAtSuspension: true, on: thread) {
    case .gone(let releases):
      if releases { Unmanaged.passUnretained(self).release() }
    case .item(let node):
      let qos = effectiveQoS(node.traits)
      putBack(node)
      // Only the owner sets `held`, and nobody clears it while the lane is locked.
      let seen = state.set(LaneState.held)
      if !seen.isHeld { _ = Unmanaged.passRetained(self) }
      sendActivation(qos: qos, from: thread)
    }
  }

  /// Serves what is first in line until an item must be run or the lane is no longer the caller's.
  private final func serve(looksAtSuspension: Bool, on thread: ThreadContext) -> Served {
    var readers = AdmittedReaders()
    // With readers admitted the lane is not alone, so nothing but `.gone` ends this call; from then
    // on they alone may keep the lane alive.
    defer { readers.grantAll(on: thread) }
    if looksAtSuspension && state.load(ordering: .acquiring).isSuspended {
      if let releases = giveUp(because: .suspended, on: thread) { return .gone(releases: releases) }
    }
    while true {
      if batch == nil && takePending() {
        if let releases = giveUp(because: .suspended, on: thread) {
          return .gone(releases: releases)
        }
        continue
      }
      guard let node = nextNode() else {
        if let releases = giveUp(because: .nothingIsQueued, on: thread) {
          return .gone(releases: releases)
        }
        continue
      }
      let traits = node.traits
      let exclusive = kind != .concurrent || traits.contains(.barrier)
      if exclusive {
        if kind == .concurrent && !isAlone {
          if let releases = leave(node, because: .firstInLineIsExclusive, on: thread) {
            return .gone(releases: releases)
          }
          continue
        }
        if !traits.contains(.waiter) { return .item(node) }
        return .gone(releases: handOver(to: node, on: thread))
      }
      guard countRunning(isItem: !traits.contains(.waiter)) else {
        if let releases = leave(node, because: .full, on: thread) {
          return .gone(releases: releases)
        }
        continue
      }
      if traits.contains(.waiter) {
        readers.add(node)
      } else {
        sendAdmitted(node, from: thread)
      }
      readers.nodeWasServed(on: thread)
    }
  }

  // MARK: The private list

  private final func nextNode() -> WorkNode? {
    guard let node = batch else { return nil }
    batch = node.next
    return node
  }

  /// Fills the empty private list. Returns whether the lane was suspended in that very exchange: then
  /// what was taken may have been pushed after suspend() returned, and must not start. What is on the
  /// private list otherwise was pushed before, so for each of its items the look at `attention` will do.
  private final func takePending() -> Bool {
    // relaxed: a guess that saves an exchange on an empty list; the one that gives up re-checks.
    guard state.load(ordering: .relaxed).pending != nil else { return false }
    // acquiring: pairs with the releasing exchange in push().
    let seen = state.clear(LaneState.pendingMask)
    guard let newest = seen.pending.map(WorkNode.init) else { return false }
    // Newest first becomes oldest first.
    batch = noteUrgencies(from: newest).oldest
    // Raised since the last look.
    if unsettled == .nothing && seen.urgency != level { unsettled = .level }
    return seen.isSuspended
  }

  private final func putBack(_ node: WorkNode) {
    node.next = batch
    batch = node
  }

  // MARK: The owner's exchanges

  /// Gives the lane up, empty or suspended, and returns whether it stopped holding itself. `nil`: work
  /// came, or the suspension ended; the lane is still the caller's.
  private final func giveUp(because reason: Leaving, on thread: ThreadContext) -> Bool? {
    let inside = owner.load(ordering: .relaxed)
    if kind != .bound { owner.store(0, ordering: .relaxed) }
    // acquiring, here and in a lost race: if the reason no longer holds the caller goes on, with items that
    // a resume() has just let run and that must see what was done before it.
    var seen = state.load(ordering: .acquiring)
    let left = urgencyLeft()
    while reason.holds(in: seen, of: self) {
      let next = seen.givenUp(
        hasBatch: batch != nil, awaitsBarrier: reason == .firstInLineIsExclusive, urgency: left)
      // With items still at work the lane may die as soon as it is given up: see Workplaces.
      if next.isHeld && inside == thread.ownerWord { thread.setWorkplace(0) }
      // releasing: the private list and all that items wrote, for the next owner.
      // acquiring: the last leaver's writes, should nobody else come before this object dies.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if won {
        Standing.noteEnd(of: seen.urgency, on: thread)
        return seen.isHeld && !next.isHeld
      }
      seen = now
    }
    owner.store(inside, ordering: .relaxed)
    return nil
  }

  /// Leaves the lane, with `node` first in line, to whoever leaves next. `nil`: that can no longer be
  /// relied on, `node` is first in line again and may go now.
  private final func leave(
    _ node: WorkNode, because reason: Leaving, on thread: ThreadContext
  ) -> Bool? {
    putBack(node)
    return giveUp(because: reason, on: thread)
  }

  /// Counts one more running. False when there are as many as may be.
  private final func countRunning(isItem: Bool) -> Bool {
    var seen = state.load(ordering: .relaxed)
    while let next = seen.admitted(isItem: isItem, width: widthNow) {
      // acquiring: what those did who were inside until they made room. Where that is one at a time, the next may go
      // by it.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiring, failureOrdering: .relaxed)
      if won {
        if next.isHeld && !seen.isHeld { _ = Unmanaged.passRetained(self) }
        return true
      }
      seen = now
    }
    return false
  }

  /// Whether nothing runs beside the owner. Acquiring: pairs with the releasing exchange of the last
  /// that left, whose writes an exclusive item must see.
  private final var isAlone: Bool { state.load(ordering: .acquiring).running == 0 }

  /// Gives the whole lane to the thread that waits in `node`. Returns whether the lane held itself.
  private final func handOver(to node: WorkNode, on thread: ThreadContext) -> Bool {
    owner.store(0, ordering: .relaxed)
    let left = urgencyLeft()
    var seen = state.load(ordering: .relaxed)
    while true {
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: seen.handedOver(hasBatch: batch != nil, urgency: left),
        ordering: .relaxed)
      if won { break }
      seen = now
    }
    Standing.noteEnd(of: seen.urgency, on: thread)
    // Releasing: the grant carries the private list and all else over.
    node.grantWaiter(on: thread)
    return seen.isHeld
  }
}

/// Why an owner gives a lane up; true of the word in the very exchange that does it.
private enum Leaving {
  case nothingIsQueued
  case suspended
  /// The lane is full: whoever leaves makes room and goes on.
  case full
  /// The first in line needs the lane alone: the last to leave goes on.
  case firstInLineIsExclusive

  func holds(in state: LaneState, of lane: Lane) -> Bool {
    switch self {
    case .nothingIsQueued: state.pending == nil
    case .suspended: state.isSuspended
    case .full: state.running >= lane.widthNow
    case .firstInLineIsExclusive: state.running > 0
    }
  }
}

extension Lane {
  /// How many nodes wait, as far as the owner can see without locking submitters out.
  final func queuedForOwner() -> Int {
    // Only the main lane is counted, and that one is never suspended.
    if batch == nil { _ = takePending() }
    var count = 0
    var node = batch
    while let current = node {
      count += 1
      node = current.next
    }
    return count
  }
}
