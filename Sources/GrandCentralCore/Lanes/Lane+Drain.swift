// Room: Lanes/Lane+Drain. How the owner of a lane serves its list.
// The owner (locked) serves the first node in line:
//   a sync() reader    is counted as running, and granted after the owner gives the lane up: see
//                      AdmittedReaders
//   any other sync()   is handed the lane
//   a shared item      is counted as running, together with those right behind it, and sent to the
//                      target (Lane+Admit)
//   an exclusive item  runs here, if the owner is an activation; otherwise an activation is sent
// Two kinds of owner serve the list: an activation, run by a worker, by the target lane's drain or
// by the main thread, and a thread that came to own the lane when it left or resumed it. Only an
// activation may run client code.
// The lane's urgency changes between two items, and only if the most urgent node left differs from
// before: see Lane+Override.
// No thread sleeps here, and no wake-up is lost: the owner gives the lane up in the exchange that
// shows the reason to leave (Leaving). So the event that ends the reason either comes before the
// exchange, and the owner continues, or comes after it and continues the lane:
//   nothingIsQueued         a push: it finds the lane idle and sends an activation. Beside running
//                           items it passes, or leaves a barrier to the last of them
//   suspended               resume() or activate()
//   full                    the next holder that leaves fewer than the width
//   firstInLineIsExclusive  the last holder that leaves
// The two other exits never unlock the lane: moveOn() passes the lock to a new activation,
// handOver() to a waiter, whose own exit looks at the list.
import CGrandCentralLinux

extension Lane {
  /// What the owner finds first in line.
  private enum Served {
    /// An exclusive item: the owner runs it, or sends an activation for it.
    case item(WorkNode)
    /// The caller no longer owns the lane. If `releases`, the lane no longer holds itself either.
    case gone(releases: Bool)
  }

  static let activationEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let lane = Unmanaged<Lane>.fromOpaque(node.context.unsafelyUnwrapped)
    let request = DrainRequest(node.companion)
    NodeCache.put(node, thread)
    // SAFETY: the node's reference keeps the lane alive. If this node drains the lane, the
    // reference becomes the lane's hold on itself, until drain() reports that the hold has ended.
    let releases = lane._withUnsafeGuaranteedRef { lane in
      let drains = lane.drainRequests.change(.acquiringAndReleasing) {
        $0.claimed(request.band, generation: request.generation)
      }
      return drains ? lane.drain(on: thread, atMost: lane.drainQuota) : true
    }
    if releases { lane.release() }
  }

  /// Drains the lane as its activation. Returns true if the lane stopped holding itself; the caller
  /// must then release it.
  final func drain(on thread: ThreadContext, atMost quota: Int) -> Bool {
    let isBound = kind == .bound
    let outer = thread.enterFrame(of: address)
    let outerQoS = thread.pointee.qos
    // Restored at the end. If the outer lane has already been given up, this is zero.
    let outerQueueLabel = thread.queueLabel
    thread.enterQueueLabel(UInt(bitPattern: address))
    showLabel(on: thread)
    let outerPlace = BlackBox.noteActivation(of: placeOnBoard(), on: thread)
    defer {
      BlackBox.noteReturn(to: outerPlace, on: thread)
      thread.setCurrentQueueLabel(outerQueueLabel)
      thread.leaveFrame(to: outer)
      if outerQueueLabel != 0 { Self.showOuterLabel(on: thread) }
      thread.pointee.qos = outerQoS
      // This lane no longer asks anything of the thread.
      let rank = PackedQoS(rawValue: outerQoS).rank
      if thread.pointee.boosted != 0 || thread.pointee.applied != UInt32(rank.rawValue) {
        Self.reapplyPriority(thread)
      }
    }
    // releasing: a raiser reads `owner` after a word that this thread has changed, or after one
    // whose change this thread sees when it takes pending.
    if !isBound { owner.store(thread.ownerWord, ordering: .releasing) }
    readInherited()
    // relaxed: a later raise shows in the exchange that takes pending.
    let seen = state.load(ordering: .relaxed)
    level = seen.urgency
    // On a target that is a lane, other lanes wait for the end of this drain.
    let most = seen.isTargeted ? min(quota, Tuning.quotaOnLane) : quota
    return drainItems(on: thread, atMost: runsOnWorkloop ? 1 : most)
  }

  /// Reads the QoS that the target hands down. It changes with the target's own target, or with a
  /// QoS that was set late. Roots never change.
  final func readInherited() {
    guard kind != .bound else { return }
    withTarget { target in
      guard target.kind != .root else { return }
      let now = target.handedDown.halfWord
      if now != inherited.load(ordering: .relaxed) { inherited.store(now, ordering: .relaxed) }
    }
  }

  private final func drainItems(on thread: ThreadContext, atMost quota: Int) -> Bool {
    let frame = thread.pointee.frame.unsafelyUnwrapped
    let startTarget = targetReference?.toOpaque()
    // acquiring: pairs with the releasing add in noteChange(). A change that is missed here shows
    // as another number after the item.
    var noticed = consumeChanges(of: changeEpoch.load(ordering: .acquiring))
    var looksAtSuspension = true
    var left = quota
    var turn = LaneTurn()
    // The pool runs the thread at the class of the activation: items of that class need no change.
    var settled =
      thread.pointee.applied == UInt32(level.rawValue) ? level : Band.unspecified
    while true {
      let node: WorkNode
      if let next = nextPlainItem(looksAtSuspension: looksAtSuspension) {
        node = next
      } else {
        switch serve(looksAtSuspension: looksAtSuspension, on: thread) {
        case .gone(let releases): return releases
        case .item(let next): node = next
        }
      }
      // Each drain runs an item before it ends by its turn. A bound lane's thread is no worker.
      if left == 0 || left != quota && kind != .bound && turn.isOver(left: left, on: thread) {
        putBack(node)
        return moveOn(from: thread)
      }
      left &-= 1
      let qos = effectiveQoS(node.traits)
      thread.pointee.qos = qos.rawValue
      let asked = urgency(from: node, at: qos)
      if asked != settled || pendingRecheck != .nothing {
        settled = reapplyPriority(before: node, asked, on: thread)
      }
      gc_item_began(thread)
      node.runInLane(address, on: thread)
      // The frames that an exception has left inside end with the item.
      thread.leaveFrame(to: frame)
      let now = changeEpoch.load(ordering: .acquiring)
      looksAtSuspension = now != noticed
      if looksAtSuspension {
        noticed = consumeChanges(of: now)
        if targetReference?.toOpaque() != startTarget { return moveOn(from: thread) }
      }
    }
  }

  /// Sets the urgency that this item, or a node behind it, asks for. Runs before an item. Returns
  /// that urgency.
  @inline(never)
  private final func reapplyPriority(
    before node: WorkNode, _ asked: Band, on thread: ThreadContext
  ) -> Band {
    let asked = pendingRecheck == .notes ? walkedUrgency(from: node) : asked
    if pendingRecheck != .nothing || asked != level { setLevel(asked, on: thread) }
    pendingRecheck = .nothing
    Self.reapplyPriority(thread, atLeast: level)
    return asked
  }

  /// Ends this activation and sends another: to a new target, or behind other work of the same
  /// target.
  private final func moveOn(from thread: ThreadContext) -> Bool {
    if kind != .bound { owner.store(0, ordering: .relaxed) }
    // Cleared first: the lane may be gone before this thread returns, by the next drainer.
    thread.setCurrentQueueLabel(0)
    setLevel(urgencyLeft(), leaves: true, on: thread)
    sendActivation(qos: PackedQoS(band: level), from: thread)
    return false
  }

  /// Serves the list for a thread that owns the lane without being its activation: admits what may
  /// enter, and sends an activation for an item that must run.
  final func advance(on thread: ThreadContext) {
    switch serve(looksAtSuspension: true, on: thread) {
    case .gone(let releases):
      if releases { Unmanaged.passUnretained(self).release() }
    case .item(let node):
      let qos = effectiveQoS(node.traits)
      putBack(node)
      // While the lane is locked, only the owner sets or clears `held`.
      let seen = state.set(LaneState.held)
      if !seen.isHeld { _ = Unmanaged.passRetained(self) }
      sendActivation(qos: qos, from: thread)
    }
  }

  /// Serves the list until an item must run or the caller no longer owns the lane.
  private final func serve(looksAtSuspension: Bool, on thread: ThreadContext) -> Served {
    var readers = AdmittedReaders()
    // After readers are admitted the lane is not alone, so this call ends only with `.gone`. From
    // then on only the readers may keep the lane alive.
    defer { readers.grantAll(on: thread) }
    if looksAtSuspension {
      let isSuspended = state.load(ordering: .acquiring).isSuspended
      if isSuspended || ordersByBand, let releases = look(isSuspended, on: thread) {
        return .gone(releases: releases)
      }
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
      guard let (counted, hasMany) = countRunning(from: node) else {
        if let releases = leave(node, because: .full, on: thread) {
          return .gone(releases: releases)
        }
        continue
      }
      if traits.contains(.waiter) {
        readers.add(node)
      } else {
        // Meanwhile the private list begins with nodes that are gone. Only the owner reads it.
        batch = sendAdmitted(node, count: counted, isBehindMany: hasMany, from: thread)
      }
      readers.nodesWereServed(counted, on: thread)
    }
  }

  /// What the owner of a suspended lane does before it serves a node, and the owner of a workloop
  /// before each item. Returns what giveUp() returns.
  @inline(never)
  private final func look(_ isSuspended: Bool, on thread: ThreadContext) -> Bool? {
    if isSuspended, let releases = giveUp(because: .suspended, on: thread) { return releases }
    // Also where a suspension has just ended: what was pushed meanwhile counts for the next choice.
    // An empty private list is filled where it is served.
    guard ordersByBand && batch != nil && takePendingByBand() else { return nil }
    return giveUp(because: .suspended, on: thread)
  }

  // MARK: The private list

  private final func nextNode() -> WorkNode? {
    guard let node = batch else { return nil }
    batch = node.next
    return node
  }

  /// What serve() would return, if that is the next node, an item, of a lane without shared items
  /// that keeps their order.
  @inline(__always)
  private final func nextPlainItem(looksAtSuspension: Bool) -> WorkNode? {
    guard kind != .concurrent, !ordersByBand else { return nil }
    guard let node = batch else { return takeOnlyPending() }
    guard !looksAtSuspension, !node.traits.contains(.waiter) else { return nil }
    batch = node.next
    return node
  }

  /// Takes the pending list if it is one item at the lane's urgency and the lane is not suspended:
  /// the first item of an idle lane, and what an item leaves that submits the next. `nil`: it is
  /// another list, or one that grows; serve() takes it.
  @inline(__always)
  private final func takeOnlyPending() -> WorkNode? {
    // acquiring: the node's contents. It stays pending, since no other thread takes nodes off the
    // list.
    let seen = state.load(ordering: .acquiring)
    guard let node = seen.pending.map(WorkNode.init), !seen.isSuspended, seen.urgency == level,
      node.next == nil, node.traits.isDisjoint(with: .waiter), node.traits.bandBehind == 0
    else { return nil }
    let next = LaneState(rawValue: seen.rawValue & ~LaneState.pendingMask)
    // A loop of its own, tried once: the rest of the word must be what was read.
    // releasing: a raiser that reads a word after this one sees `owner`. The load has acquired the
    // list.
    let (won, _) = state.weakCompareExchange(
      expected: seen, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
    guard won else { return nil }
    next.check(after: seen)
    return node
  }

  /// Fills the private list, which is empty unless the lane orders it. Returns true if that
  /// exchange found the lane suspended: a node taken then may have been pushed after suspend()
  /// returned, and must not start. Nodes taken otherwise were pushed before a suspension, so the
  /// check of `changeEpoch` per item is enough for them.
  @inline(__always)
  final func takePending() -> Bool {
    if ordersByBand { return takePendingByBand() }
    // The pending list is newest first; the private list is oldest first.
    return takePending { batch = noteUrgencies(from: $0).oldest }
  }

  @inline(never)
  private final func takePendingByBand() -> Bool {
    if pendingRecheck == .notes { orderAgain() }
    return takePending { insertByBand($0.turnedRound()) }
  }

  @inline(__always)
  private final func takePending(_ insert: (WorkNode) -> Void) -> Bool {
    // relaxed: a guess that saves an exchange on an empty list; the exchange that gives up
    // re-checks.
    guard state.load(ordering: .relaxed).pending != nil else { return false }
    // acquiring: pairs with the releasing exchange in push().
    let seen = state.clear(LaneState.pendingMask)
    guard let newest = seen.pending.map(WorkNode.init) else { return false }
    insert(newest)
    // The lane was raised since the last check.
    if pendingRecheck == .nothing && seen.urgency != level { pendingRecheck = .level }
    return seen.isSuspended
  }

  private final func putBack(_ node: WorkNode) {
    node.next = batch
    batch = node
  }

  // MARK: The owner's exchanges

  /// Gives the lane up for a reason. Returns whether the lane stopped holding itself. `nil`: the
  /// reason no longer holds, and the caller still owns the lane.
  private final func giveUp(because reason: Leaving, on thread: ThreadContext) -> Bool? {
    let inside = owner.load(ordering: .relaxed)
    if kind != .bound { owner.store(0, ordering: .relaxed) }
    // A loop of its own: the reason may be the width, and the label goes before the exchange.
    // acquiring, here and in a lost race: if the reason no longer holds, the caller continues with
    // items that a resume() has just released, and these must see what happened before it.
    var seen = state.load(ordering: .acquiring)
    let left = urgencyLeft()
    while reason.holds(in: seen, of: self) {
      let next = seen.givenUp(
        hasBatch: batch != nil, awaitsBarrier: reason == .firstInLineIsExclusive, urgency: left)
      // With items still running, the lane may be gone as soon as it is given up: see
      // CurrentQueueLabels.
      if next.isHeld && inside == thread.ownerWord { thread.setCurrentQueueLabel(0) }
      // releasing: the private list and all that items wrote, for the next owner.
      // acquiring: the writes of the last holder that left, in case no other thread enters before
      // this object ends.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if won {
        next.check(after: seen)
        EffectivePriority.noteEnd(of: seen.urgency, on: thread)
        return seen.isHeld && !next.isHeld
      }
      seen = now
    }
    owner.store(inside, ordering: .relaxed)
    return nil
  }

  /// Leaves the lane, with `node` first in line, for a holder that leaves to continue.
  /// `nil`: that is no longer certain; the caller still owns the lane, with `node` first in line.
  private final func leave(
    _ node: WorkNode, because reason: Leaving, on thread: ThreadContext
  ) -> Bool? {
    putBack(node)
    return giveUp(because: reason, on: thread)
  }

  /// Whether no shared holder is beside the owner. Acquiring: pairs with the releasing exchange of
  /// the last holder that left, whose writes an exclusive item must see.
  private final var isAlone: Bool { state.load(ordering: .acquiring).running == 0 }

  /// Hands the lane to the thread that waits in `node`. Returns whether the lane held itself.
  private final func handOver(to node: WorkNode, on thread: ThreadContext) -> Bool {
    owner.store(0, ordering: .relaxed)
    let left = urgencyLeft()
    // releasing: a raiser that reads the new word sees that this thread is no longer the owner.
    // Without that it may find the old name, and then raises this thread, which has seen no reason
    // to take the boost back. The grant below hands over the list.
    let before = state.change(.releasing) {
      ($0.handedOver(hasBatch: batch != nil, urgency: left), $0)
    }
    EffectivePriority.noteEnd(of: before.urgency, on: thread)
    // Releasing: the grant publishes the private list and all earlier writes.
    node.grantWaiter(on: thread)
    return before.isHeld
  }
}
