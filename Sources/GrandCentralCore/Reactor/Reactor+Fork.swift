// Room: Reactor/Reactor+Fork. The reactor in a forked child: nothing is registered, no thread
// waits, and no timer is armed.
// The parent uses the same epoll set, timer descriptors and eventfd, and must not notice. So the
// child closes its copies and changes none of them, and makes new ones when it needs them. A number
// may be the program's since it closed the engine's descriptors: gc_close_inherited() leaves it.
import CGrandCentralLinux

extension Reactor: ForkParticipant {
  func afterFork() {
    for receiver in poller.afterFork(on: currentThread()) { receiver.leaveToParent() }
    for shard in timerShards {
      shard.monotonic.disarmAll()
      shard.wall.disarmAll()
    }
    descriptors.afterFork()
  }

  /// Calls `body` for each lane that has a timer entry.
  func visitTimers(_ body: LaneRegistry.Visitor) {
    for shard in timerShards {
      shard.monotonic.store.visitLanes(body)
      shard.wall.store.visitLanes(body)
    }
  }
}

extension ReadinessReceiver {
  func leaveToParent() {}
}

extension Poller {
  /// Returns the receivers that were registered.
  fileprivate func afterFork(on thread: ThreadContext) -> [any ReadinessReceiver] {
    let (inherited, wakeDescriptor) = (set.load(ordering: .relaxed), wakeDescriptor)
    let firstSet = firstSet.load(ordering: .relaxed)
    gc_close_inherited(inherited)
    if firstSet != inherited { gc_close_inherited(firstSet) }
    gc_close_inherited(wakeDescriptor)
    set.store(-1, ordering: .relaxed)
    self.firstSet.store(-1, ordering: .relaxed)
    mayStayArmed.store(false, ordering: .relaxed)
    orphans = Orphans()
    self.wakeDescriptor = -1
    lacking = []
    isShort.store(false, ordering: .relaxed)
    isLookSubmitted.store(false, ordering: .relaxed)
    state.store(.empty, ordering: .relaxed)
    first.afterFork(on: thread)
    second.afterFork(on: thread)
    return table.removeAll()
  }
}

extension PollerThread {
  /// If the calling thread works under the pool's record, the record stays with that thread.
  fileprivate func afterFork(on thread: ThreadContext) {
    (turnsTaken, lastTurn, otherTurns) = (0, 0, 0)
    isStarting = false
    turns.store(0, ordering: .relaxed)
    context.store(0, ordering: .relaxed)
    if let externalWorker,
      thread.pointee.worker == Unmanaged.passUnretained(externalWorker).toOpaque()
    {
      self.externalWorker = nil
    }
  }

  /// Begins the first steps of the calling thread, which end when it waits for the first time. No
  /// fork happens until then: see ForkGate.inside().
  func beginFirstSteps(of thread: ThreadContext) {
    ForkGate.enter(thread)
    isStarting = true
  }

  /// Ends the first steps, before each wait.
  @inline(__always)
  func endFirstSteps(of thread: ThreadContext) {
    guard isStarting else { return }
    isStarting = false
    ForkGate.leave(thread)
  }
}

extension RegistrationTable {
  /// Removes all receivers, and returns them.
  fileprivate mutating func removeAll() -> [any ReadinessReceiver] {
    var removed: [any ReadinessReceiver] = []
    // Capacity for at least one element, so that a rehearsal instantiates the array's type.
    removed.reserveCapacity(slots.count + 1)
    for slot in slots.indices {
      let registration = Registration(slot: slot, generation: slots[slot].generation)
      if let receiver = remove(registration) { removed.append(receiver) }
    }
    return removed
  }
}

extension DescriptorTable {
  /// No source listens.
  fileprivate func afterFork() {
    let inherited = lock.withLock {
      var all: [SharedDescriptor] = []
      // See RegistrationTable.removeAll().
      all.reserveCapacity(shared.count + 1)
      for descriptor in shared.values { all.append(descriptor) }
      shared = [:]
      return all
    }
    for descriptor in inherited { descriptor.leaveToParent() }
  }
}

extension SharedDescriptor {
  /// Ends all entries. New sources of the descriptor use another instance.
  func leaveToParent() {
    lock.withLock {
      kind = .lost
      isOver = true
      registration = nil
      for entry in entries { entry.word.transition(to: { $0.lost() }) }
      entries = []
    }
  }
}

extension Timers {
  /// Disarms all timers: what was scheduled belongs to the parent, and so does the descriptor.
  /// Nodes stay where they are: see Queues/Runtime+Fork.
  fileprivate func disarmAll() {
    lock.pointee.withLock {
      _ = byTarget.removeAll()
      for entry in byLatest.removeAll() {
        entry.pointee.disarm()
        if entry.pointee.kind == .work { store.put(entry) }
      }
      gc_close_inherited(timerFD)
      timerFD = -1
      timerFDTime = .max
      isFiring = false
    }
  }
}
