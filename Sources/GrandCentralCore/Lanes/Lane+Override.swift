// Room: Lanes/Lane+Override. More urgent work stands behind less urgent: what is ahead of it is raised.
// The word's urgency says what the lane is worked at. Who brings more (a push, a sync() that gets in line, a
// waiter that is raised itself) puts it into the word, and then raises whoever has the lane, by its place:
//   on its way to its target  a second node is sent, in the higher band: see Summons. The target is a lane? Then
//                             that node is more urgent than what is queued there, and raises it in turn
//   a thread is inside        its standing is raised, and with it what it sleeps for: see QoS/Standing
//   neither                   whoever has just locked the lane, or is about to give it up, looks at the word
// The drainer looks at what is left before each item, and lowers the word's urgency when the most urgent has been
// reached: each node that it takes knows the most urgent one behind it. So urgency falls at most once a class in
// a list. Where what a node asks changes while it is queued, since its waiter is raised or has given up, the notes are
// old and the list is walked, once for each such change. What is pending the drainer may walk, for nobody else takes
// nodes off: the newest of it, `Tuning.mostPendingLooks`, and behind more than that the word's urgency stands for the
// rest, which may be more than is still asked, never less. What it works at is the most that any lane asks which it
// has to itself, however deep it drains.
// A lane's queued items are raised with it: they run when they run, and the drainer is what runs them. The
// items do not see it: their QoS, and what they hand on, is that of Lane.effectiveQoS().
// Readers and items of a concurrent lane are not known, and are not raised for what waits until they leave: for a
// barrier, nor for anything that finds the lane full.
import CLinux

/// Whether inversions are resolved. GRANDCENTRAL_OVERRIDES=off shows what happens if not.
enum Overrides {
  static let areResolved = Process.environment("GRANDCENTRAL_OVERRIDES") != "off"
}

extension Lane {
  // MARK: Those who raise

  /// `word` has come to be the lane's, with another urgency. Any thread that keeps the lane, but not its
  /// owner.
  final func raise(_ word: LaneState, from thread: ThreadContext) {
    guard Overrides.areResolved, kind != .bound else { return }
    let band = word.urgency
    // A sync() has the lane. When it leaves it sees that word, and wants no less.
    guard word.isHeld else { return raiseOwner(to: band, from: thread) }
    let (raise, generation) = summons.change { seen in
      // As urgent as any is the one node of a lane that is summoned once.
      let (next, raise) = seen.raised(to: isSummonedOnce ? .unspecified : band)
      return (next, (raise, next.generation))
    }
    switch raise {
    case .isOut: return
    case .isTooLate: raiseOwner(to: band, from: thread)
    case .sends:
      // The lane is not this thread's: the lock keeps target and generation together.
      let target = Self.hierarchyLock.lock.withLock {
        summons.load(ordering: .relaxed).generation == generation ? self.target : nil
      }
      guard let target else { return }
      // The node's own.
      _ = Unmanaged.passRetained(self)
      send(
        Summoning(band: band, generation: generation), qos: PackedQoS(band: band), to: target,
        from: thread)
    }
  }

  private final func raiseOwner(to band: Band, from thread: ThreadContext) {
    // A sync() takes an idle lane first and says its name then.
    for _ in 0...Tuning.nameSpins {
      let inside = owner.load(ordering: .acquiring)
      if let holder = ThreadContext(bitPattern: inside) {
        if holder == thread { return }
        Standing.raise(holder, to: band, from: thread) {
          guard owner.load(ordering: .relaxed) == inside else { return false }
          // acquiring: a word of the next owner's comes with the last one's leaving.
          let seen = state.load(ordering: .acquiring)
          return seen.isLocked && seen.urgency >= band
        }
        // For what can be changed on the thread by itself only.
        return noteChange()
      }
      let seen = state.load(ordering: .relaxed)
      guard seen.isLocked && !seen.isHeld else { return }
      spinHint()
    }
  }

  /// What a node that is queued asks for is another than it was, and what the owner has noted of its private
  /// list is old. Any thread. Releasing: pairs with the acquiring look of the owner, which sees the change then.
  final func noteAskedChange() {
    attention.bitwiseOr(Self.askedChange, ordering: .releasing)
  }

  private static var askedChange: UInt32 { 1 }

  // MARK: What the owner works at

  /// What the owner has to find out before the next item.
  enum Unsettled: UInt8 {
    case nothing
    /// Somebody has raised the lane.
    case level
    /// What nodes of the private list ask has changed: it must be walked. That takes as long as the list is, so a
    /// suspension, or a push, is no reason.
    case notes
  }

  /// Learns what `seen`, as the owner read it off `attention`, says of the private list. Returns the number that is
  /// the next change's to differ from.
  final func takeNotice(of seen: UInt32) -> UInt32 {
    if seen & Self.askedChange != 0 {
      // acquiring: what was changed before somebody said so after `seen` was read.
      attention.bitwiseAnd(~Self.askedChange, ordering: .acquiring)
      unsettled = .notes
    } else if unsettled == .nothing && state.load(ordering: .relaxed).urgency != level {
      // relaxed: a raiser changes the word before `attention`, which was read with acquiring.
      unsettled = .level
    }
    return seen & ~Self.askedChange
  }

  /// What the private list asks, for an owner that leaves it behind.
  final func urgencyLeft() -> Band {
    guard let node = batch else { return .unspecified }
    _ = takeNotice(of: attention.load(ordering: .acquiring))
    if unsettled != .notes { return urgency(from: node) }
    unsettled = .level
    return walkedUrgency(from: node)
  }

  /// What `node` asks of whoever drains it, by itself.
  @inline(__always)
  final func urgency(of node: WorkNode) -> Band {
    let traits = node.traits
    if traits.isDisjoint(with: [.waiter, .awaited]) { return effectiveQoS(traits).place }
    return urgencyOfAwaited(node)
  }

  private final func urgencyOfAwaited(_ node: WorkNode) -> Band {
    let traits = node.traits
    if traits.contains(.waiter) {
      // The waiter runs on its own thread, at its own class.
      let waiter = node.context.unsafelyUnwrapped.assumingMemoryBound(to: gc_thread.self)
      return max(traits.qos.place, Standing.of(waiter))
    }
    return max(effectiveQoS(traits).place, node.awaitedBand)
  }

  /// What the most urgent of `node` and those behind it on the private list asks.
  @inline(__always)
  final func urgency(from node: WorkNode) -> Band {
    let behind = node.traits.bandBehind
    return behind == 0 ? urgency(of: node) : Band(rawValue: behind) ?? .userInteractive
  }

  /// The same, after what nodes ask may have changed.
  final func walkedUrgency(from node: WorkNode) -> Band {
    // Newest first and back again: what is behind a node must be known before it.
    noteUrgencies(from: node.turnedRound()).most
  }

  /// Turns a list, newest first, round, and notes at each node what is asked behind it. Returns what all of
  /// it asks.
  @inline(__always)
  final func noteUrgencies(from newest: WorkNode) -> (oldest: WorkNode, most: Band) {
    var most = Band.unspecified
    var newer: WorkNode?
    var node = newest
    while true {
      let own = urgency(of: node)
      let traits = node.traits
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

  /// The owner knows that its private list asks for `band`: the word says that, or what is pending if more. Of a long
  /// list that is pending only the newest are asked: the urgency of the word, which none exceeds, stands for the
  /// others. So a lane may stay raised until that list is taken.
  /// `leaves`: the thread is no longer the owner by name, so every raise that found it must show now.
  final func setLevel(_ band: Band, leaves: Bool = false, on thread: ThreadContext) {
    // acquiring: the nodes that are pending.
    var seen = state.load(ordering: .acquiring)
    var walked: WorkNode?
    var most = band
    var looks = Tuning.mostPendingLooks
    while true {
      // Nodes stay pending until this thread takes them. Those that came since the last look are ahead.
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
      if won { break }
      seen = now
    }
    Standing.noteEnd(of: seen.urgency, on: thread)
    level = most
  }

  /// What the lanes ask that `thread`, the calling one, has to itself.
  static func asked(of thread: ThreadContext) -> Band {
    var most = Band.unspecified
    for frame in Frames(thread: thread) {
      for lane in frame.hierarchy
      where lane.owner.load(ordering: .relaxed) == thread.ownerWord {
        // sequentiallyConsistent: see QoS/Standing.
        most = max(most, lane.state.load(ordering: .sequentiallyConsistent).urgency)
      }
    }
    return most
  }

  /// The calling thread has come to its place among its lanes again: it works at its own class, or at what
  /// these ask.
  @inline(never)
  static func settle(_ thread: ThreadContext, atLeast band: Band = .unspecified) {
    let own = PackedQoS(rawValue: thread.pointee.qos).place
    if Standing.isAt(max(own, band, asked(of: thread)), thread) { return }
    Standing.adoptNow(on: thread) { max(own, band, asked(of: thread)) }
  }
}

// MARK: Waiters that are raised themselves

extension Lane: Awaited {
  final func waiterRose(to band: Band, from thread: ThreadContext) {
    var seen = state.load(ordering: .relaxed)
    while true {
      // Who sleeps on the word is in no line; woken, it gets in line if it outranks the owner now. There may be
      // others in line all the same, and this one among them.
      let roused = seen.roused()
      guard let next = roused ?? seen.raised(to: band) else { return noteAskedChange() }
      // sequentiallyConsistent: with the raise, as in push().
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      guard won else {
        seen = now
        continue
      }
      if roused != nil {
        futexWake(lowHalfOf: state, count: .max)
        seen = next
        continue
      }
      noteAskedChange()
      if next.isLocked { raise(next, from: thread) }
      return
    }
  }

  /// Whether `thread`, the calling one, should not take its chance with others that sleep for this lane, but
  /// get in line and raise its owner.
  final func isOutranked(by thread: ThreadContext) -> Bool {
    // relaxed: a guess; the address is a thread's at any time.
    guard Overrides.areResolved,
      let holder = ThreadContext(bitPattern: owner.load(ordering: .relaxed)), holder != thread
    else { return false }
    return Standing.ofWaiter(thread) > Standing.of(holder)
  }
}

extension Standing {
  /// What the calling thread asks of what it waits for.
  static func ofWaiter(_ thread: ThreadContext) -> Band {
    max(PackedQoS(rawValue: thread.pointee.qos).place, of(thread))
  }
}
