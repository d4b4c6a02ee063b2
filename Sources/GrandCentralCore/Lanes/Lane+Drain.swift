// Room: Lanes/Lane+Drain. How a lane's list is worked off, and by whom.
// The owner of the lane (locked) serves what is first in line:
//   a sync() that waits     is let in: a reader beside others, anybody else alone
//   a shared item           is counted as running and sent to the target
//   an exclusive item       is run here, if this is an activation; else an activation is sent
// Two come here as owners: an activation, run by a worker or by the target lane's own drain, and a
// thread that leaves the lane while work is queued. Only the first may run client code.
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
    NodeCache.put(node, thread)
    // SAFETY: the lane holds itself (held) until drain() says that it no longer does.
    let releases = lane._withUnsafeGuaranteedRef { $0.drain(on: thread, atMost: $0.drainQuota) }
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
      thread.setWorkplace(UInt(bitPattern: address))
      defer {
        thread.setWorkplace(outerWorkplace)
        thread.pointee.frame = frame.pointee.previous
        thread.pointee.qos = outerQoS
      }
      if !isBound { owner.store(thread.ownerWord, ordering: .relaxed) }
      return drainItems(on: thread, atMost: quota)
    }
  }

  private final func drainItems(on thread: ThreadContext, atMost quota: Int) -> Bool {
    let startTarget = targetReference?.toOpaque()
    // acquiring: pairs with the releasing add in changeNoticed(); a change we do not see here shows
    // as another number after the item.
    var noticed = attention.load(ordering: .acquiring)
    var looksAtSuspension = true
    var left = quota
    while true {
      switch serve(looksAtSuspension: looksAtSuspension, on: thread) {
      case .gone(let releases): return releases
      case .item(let node):
        thread.pointee.qos =
          QoSPropagation.effective(item: node.traits.qos, queue: ownQoS).rawValue
        node.run(on: thread)
      }
      let now = attention.load(ordering: .acquiring)
      looksAtSuspension = now != noticed
      left -= 1
      if looksAtSuspension {
        noticed = now
        if targetReference?.toOpaque() != startTarget { return moveOn(from: thread) }
      }
      if left <= 0 && hasMore { return moveOn(from: thread) }
    }
  }

  /// Whether more is queued, as far as the owner can see without an exchange.
  private final var hasMore: Bool {
    batch != nil || state.load(ordering: .relaxed).pending != nil
  }

  /// Ends this activation and sends another: to a new target, or behind what else waits on this one.
  private final func moveOn(from thread: ThreadContext) -> Bool {
    if kind != .bound { owner.store(0, ordering: .relaxed) }
    // The next drainer may let the lane die before this one has left it.
    thread.setWorkplace(0)
    sendActivation(qos: PackedQoS(rawValue: thread.pointee.qos), from: thread)
    return false
  }

  /// For a thread that owns the lane without being its activation: lets in whoever may go in, and
  /// sends an activation for what must be run.
  final func advance(on thread: ThreadContext) {
    switch serve(looksAtSuspension: true, on: thread) {
    case .gone(let releases):
      if releases { Unmanaged.passUnretained(self).release() }
    case .item(let node):
      let qos = node.traits.qos
      putBack(node)
      // Only the owner sets `held`, and nobody clears it while the lane is locked.
      let seen = state.set(LaneState.held)
      if !seen.isHeld { _ = Unmanaged.passRetained(self) }
      sendActivation(qos: qos, from: thread)
    }
  }

  /// Serves what is first in line until an item must be run or the lane is no longer the caller's.
  private final func serve(looksAtSuspension: Bool, on thread: ThreadContext) -> Served {
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
        grant(node, on: thread)
      } else {
        sendAdmitted(node, from: thread)
      }
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
    guard var newest = seen.pending.map(WorkNode.init) else { return false }
    // Newest first becomes oldest first.
    var older = newest.next
    newest.next = nil
    while let node = older {
      older = node.next
      node.next = newest
      newest = node
    }
    batch = newest
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
    while reason.holds(in: seen) {
      let next = seen.givenUp(
        hasBatch: batch != nil, awaitsBarrier: reason == .firstInLineIsExclusive)
      // With items still at work the lane may die as soon as it is given up: see Workplaces.
      if next.isHeld && inside == thread.ownerWord { thread.setWorkplace(0) }
      // releasing: the private list and all that items wrote, for the next owner.
      // acquiring: the last leaver's writes, should nobody else come before this object dies.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if won { return seen.isHeld && !next.isHeld }
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
    while let next = seen.admitted(isItem: isItem) {
      // relaxed: what the counted one reads reaches it by the hand-over that follows.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, ordering: .relaxed)
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
    var seen = state.load(ordering: .relaxed)
    while true {
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: seen.handedOver(hasBatch: batch != nil), ordering: .relaxed)
      if won { break }
      seen = now
    }
    // Releasing: the grant carries the private list and all else over.
    grant(node, on: thread)
    return seen.isHeld
  }

  private final func grant(_ node: WorkNode, on thread: ThreadContext) {
    let waiter = node.context.unsafelyUnwrapped.assumingMemoryBound(to: gc_thread.self)
    NodeCache.put(node, thread)
    Parker.grant(waiter)
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

  func holds(in state: LaneState) -> Bool {
    switch self {
    case .nothingIsQueued: state.pending == nil
    case .suspended: state.isSuspended
    case .full: state.running >= LaneState.mostRunning
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
