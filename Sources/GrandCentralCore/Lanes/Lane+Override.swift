// Room: Lanes/Lane+Override. Resolves priority inversions: raises work ahead of more urgent work.
// The urgency in the word says what the lane is worked at. A push, a sync() that gets in line, or a
// queued waiter that is raised first writes a higher urgency into the word. Then it raises whatever
// has the lane:
//   an activation in flight  a second node is sent, in the higher band: see DrainRequests. If the
//                            target is a lane, that node is more urgent than the target's queue,
//                            and so raises the target in turn
//   a thread inside          its effective priority is boosted, and with it what it sleeps for: see
//                            Priority/EffectivePriority
//   neither                  the thread that has just locked the lane, or is about to give it up,
//                            reads the word
// Before each item the drainer looks at what is left, and lowers the word's urgency once the most
// urgent node is reached. Each node of the private list records the most urgent node behind it, so
// the urgency falls at most once per class in a list.
// A queued node asks for something else when its waiter is raised or gives up. The records are
// stale then, and the list is walked, once per such change.
// The drainer may walk the pending list, since no other thread takes nodes off it. It reads the
// newest `Tuning.maxPendingLooks` nodes. For the rest it uses the word's urgency, which is never
// less than what they ask for, and may be more.
// A thread works at the maximum that any lane asks for which it holds alone, at any depth of nested
// drains.
// Raising a lane raises its queued items, since the drainer runs them. The items do not see it:
// their QoS, and the QoS that they pass on, is that of Lane.effectiveQoS().
// Readers and items of a concurrent lane are not known, so they are not raised for work that waits
// until they leave: a barrier, or any node that finds the lane full.
import CGrandCentralLinux

/// Whether priority inversions are resolved. GRANDCENTRAL_OVERRIDES=off shows the difference.
enum Overrides {
  static let areResolved = Process.environment("GRANDCENTRAL_OVERRIDES") != "off"
}

extension Lane {
  // MARK: Raisers

  /// Raises what has the lane, after `word` became the lane's state with a higher urgency. Any
  /// thread that keeps the lane alive, but not the owner.
  final func raise(_ word: LaneState, from thread: ThreadContext) {
    guard Overrides.areResolved, kind != .bound else { return }
    let band = word.urgency
    // A sync() holds the lane. When it leaves it sees this word, and requests a drain of no less.
    guard word.isHeld else { return raiseOwner(to: band, from: thread) }
    let (raise, generation) = drainRequests.change(.acquiringAndReleasing) { seen in
      // A lane that is requested once has only one node, which counts as the most urgent.
      let (next, raise) = seen.raised(to: isRequestedOnce ? .unspecified : band)
      return (next, (raise, next.generation))
    }
    switch raise {
    case .isEnqueued: return
    case .isTooLate: raiseOwner(to: band, from: thread)
    case .sends:
      // This thread does not own the lane: the lock keeps the target alive until it is retained.
      // adopt() changes the generation only after it has released the lock. A node sent between the
      // two carries the old generation and is void; moveOn() then sends the lane to its new target.
      let target = Self.hierarchyLock.lock.withLock {
        drainRequests.load(ordering: .relaxed).generation == generation ? self.target : nil
      }
      guard let target else { return }
      // The reference that the new node holds.
      _ = Unmanaged.passRetained(self)
      send(
        DrainRequest(band: band, generation: generation), qos: PackedQoS(band: band), to: target,
        from: thread)
    }
  }

  private final func raiseOwner(to band: Band, from thread: ThreadContext) {
    // A sync() enters an idle lane before it stores the owner word.
    for _ in 0...Tuning.nameSpins {
      let inside = owner.load(ordering: .acquiring)
      if let holder = ThreadContext(bitPattern: inside) {
        if holder == thread { return }
        EffectivePriority.raise(holder, to: band, from: thread) {
          guard owner.load(ordering: .relaxed) == inside else { return false }
          // acquiring: if the word is the next owner's, the last owner's leaving is visible.
          let seen = state.load(ordering: .acquiring)
          return seen.isLocked && seen.urgency >= band
        }
        // Some effects only the thread itself can change: make it look.
        return noteChange()
      }
      let seen = state.load(ordering: .relaxed)
      guard seen.isLocked && !seen.isHeld else { return }
      spinHint()
    }
  }

  /// Reports that a queued node asks for something else than before, so that the owner's records of
  /// its private list are stale. Any thread. Releasing: pairs with the owner's acquiring load,
  /// which then sees the change.
  final func noteAskedChange() {
    changeEpoch.bitwiseOr(Self.askedChange, ordering: .releasing)
  }

  private static var askedChange: UInt32 { 1 }

  // MARK: The owner's urgency

  /// What the owner has to find out before the next item.
  enum PendingRecheck: UInt8 {
    case nothing
    /// The lane was raised.
    case level
    /// What nodes of the private list ask for has changed: the list must be walked. The walk takes
    /// time proportional to the list, so a suspension or a push alone does not cause it.
    case notes
  }

  /// Updates `pendingRecheck` from `seen`, a value that the owner loaded from `changeEpoch`.
  /// Returns the number that the next change will differ from; on a workloop one that differs from
  /// any, so that its owner looks before each item.
  final func consumeChanges(of seen: UInt32) -> UInt32 {
    if seen & Self.askedChange != 0 {
      // acquiring: pairs with the reports that came after `seen` was read. The walk sees those
      // changes.
      changeEpoch.bitwiseAnd(~Self.askedChange, ordering: .acquiring)
      pendingRecheck = .notes
    } else if pendingRecheck == .nothing && state.load(ordering: .relaxed).urgency != level {
      // relaxed: a raiser changes the word before `changeEpoch`, which was read with acquiring.
      pendingRecheck = .level
    }
    return ordersByBand ? ~seen : seen & ~Self.askedChange
  }

  /// The urgency of the private list, for an owner that leaves it behind.
  final func urgencyLeft() -> Band {
    guard let node = batch else { return .unspecified }
    _ = consumeChanges(of: changeEpoch.load(ordering: .acquiring))
    if pendingRecheck != .notes { return urgency(from: node) }
    pendingRecheck = .level
    return walkedUrgency(from: node)
  }

  /// The urgency that `node` alone asks of its drainer.
  @inline(__always)
  final func urgency(of node: WorkNode) -> Band {
    let traits = node.traits
    if traits.isDisjoint(with: [.waiter, .awaited]) { return effectiveQoS(traits).rank }
    return urgencyOfWaiters(node)
  }

  private final func urgencyOfWaiters(_ node: WorkNode) -> Band {
    let traits = node.traits
    if traits.contains(.waiter) {
      // The waiter runs on its own thread, at its own class.
      let waiter = node.context.unsafelyUnwrapped.assumingMemoryBound(to: gc_thread.self)
      return max(traits.qos.rank, EffectivePriority.of(waiter))
    }
    return max(effectiveQoS(traits).rank, node.awaitedBand)
  }

  /// The highest urgency of `node` and the nodes behind it on the private list.
  @inline(__always)
  final func urgency(from node: WorkNode) -> Band {
    let behind = node.traits.bandBehind
    return behind == 0 ? urgency(of: node) : Band(rawValue: behind) ?? .userInteractive
  }

  /// The same as urgency(from:), for a node whose effective QoS the caller knows.
  @inline(__always)
  final func urgency(from node: WorkNode, at effective: PackedQoS) -> Band {
    let traits = node.traits
    let isPlain = traits.bandBehind == 0 && traits.isDisjoint(with: [.waiter, .awaited])
    return isPlain ? effective.rank : urgency(from: node)
  }

  /// The same as urgency(from:), after what nodes ask for may have changed.
  final func walkedUrgency(from node: WorkNode) -> Band {
    if ordersByBand {
      orderAgain()
      return batch.map { max(urgency(of: node), urgency(from: $0)) } ?? urgency(of: node)
    }
    // Reversed, then walked newest first: each node needs the result of those behind it.
    return noteUrgencies(from: node.turnedRound()).most
  }

  /// Reverses a list that is newest first, and records at each node the highest urgency behind it.
  /// Returns the oldest node, and the highest urgency of the list.
  @inline(__always)
  final func noteUrgencies(from newest: WorkNode) -> (oldest: WorkNode, most: Band) {
    var most = Band.unspecified
    var newer: WorkNode?
    var node = newest
    // Most lists are of one kind: what the last node asks for, if only its traits decide that.
    var known: (traits: WorkTraits, own: Band)?
    while true {
      let traits = node.traits
      let own: Band
      if let known, known.traits == traits {
        own = known.own
      } else {
        own = urgency(of: node)
        known = traits.isDisjoint(with: [.waiter, .awaited]) ? (traits, own) : nil
      }
      if most > own {
        node.traits = traits.withBandBehind(most)
      } else {
        most = own
        if traits.bandBehind != 0 { node.traits = traits.withBandBehind(.unspecified) }
      }
      let older = node.next
      node.next = newer
      guard let older else { return (node, most) }
      newer = node
      node = older
    }
  }

  /// Writes into the word the higher of `band`, which the private list asks for, and what the
  /// pending list asks for. Of a long pending list only the newest nodes are read. The word's
  /// urgency stands for the others, since none exceeds it, so the lane may stay raised until that
  /// list is taken.
  /// `leaves`: the owner word is already zero. The exchange then happens even if it changes
  /// nothing, so that it shows every raise that found this thread.
  final func setLevel(_ band: Band, leaves: Bool = false, on thread: ThreadContext) {
    // acquiring: the nodes that are pending.
    var seen = state.load(ordering: .acquiring)
    var walked: WorkNode?
    var most = band
    var looks = Tuning.maxPendingLooks
    while true {
      // Nodes stay pending until this thread takes them. Nodes that arrived since the last walk
      // come first.
      let newest = seen.pending.map(WorkNode.init)
      var node = newest
      while let next = node, next != walked {
        if looks == 0 {
          most = max(most, seen.urgency)
          break
        }
        looks -= 1
        most = max(most, urgency(of: next))
        node = next.next
      }
      walked = newest
      let next = seen.withUrgency(most)
      if next == seen && !leaves { break }
      // acquiring: as above. Releasing: passes on what earlier exchanges released.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if won {
        next.check(after: seen)
        break
      }
      seen = now
    }
    EffectivePriority.noteEnd(of: seen.urgency, on: thread)
    level = most
  }

  /// The highest urgency of the lanes that `thread`, the calling one, holds alone.
  static func asked(of thread: ThreadContext) -> Band {
    var most = Band.unspecified
    _ = Frames.search(thread) {
      $0._withUnsafeGuaranteedRef { lane in
        guard lane.isOwned(by: thread) else { return }
        // sequentiallyConsistent: see Priority/EffectivePriority.
        most = max(most, lane.state.load(ordering: .sequentiallyConsistent).urgency)
      }
      return false
    }
    return most
  }

  /// Reapplies the calling thread's priority after its lanes have changed: the maximum of its own
  /// class, `band`, and what its lanes ask for.
  @inline(never)
  static func reapplyPriority(_ thread: ThreadContext, atLeast band: Band = .unspecified) {
    let own = PackedQoS(rawValue: thread.pointee.qos).rank
    if EffectivePriority.isAt(max(own, band, asked(of: thread)), thread) { return }
    EffectivePriority.reapply(on: thread) { max(own, band, asked(of: thread)) }
  }
}

// MARK: Waiters that are raised

extension Lane: PriorityInheriting {
  final func waiterPriorityDidRise(to band: Band, from thread: ThreadContext) {
    // sequentiallyConsistent: with the raise, as in push().
    while let rise = state.transition(.sequentiallyConsistent, { $0.waiterDidRise(to: band) }) {
      switch rise {
      case .roused: futexWake(lowHalfOf: state, count: .max)
      case .raised(let next):
        noteAskedChange()
        if next.isLocked { raise(next, from: thread) }
        return
      }
    }
    noteAskedChange()
  }

  /// Whether `thread`, the calling one, is more urgent than the owner, and so should get in line
  /// and raise it instead of sleeping on the word.
  final func isOutranked(by thread: ThreadContext) -> Bool {
    // The waiters of a workloop all get in line, where their classes decide.
    if ordersByBand { return true }
    // relaxed: a guess. The address is valid at any time, since contexts are type-stable.
    guard Overrides.areResolved,
      let holder = ThreadContext(bitPattern: owner.load(ordering: .relaxed)), holder != thread
    else { return false }
    return EffectivePriority.ofWaiter(thread) > EffectivePriority.of(holder)
  }
}

extension EffectivePriority {
  /// The class that the calling thread asks of what it waits for.
  static func ofWaiter(_ thread: ThreadContext) -> Band {
    max(PackedQoS(rawValue: thread.pointee.qos).rank, of(thread))
  }
}
