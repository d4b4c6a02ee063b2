// Room: Queues/Runtime+Fork. The engine in a forked child.
// fork(2) copies the queues, not the work. Work submitted before the fork belongs to the parent and
// runs there, once. So do handlers, finalizers and the deinits of closures; the child therefore
// leaves these in memory untouched. In the child
//   a queue        is idle, with the targets, values and suspensions that it had. The thread that
//                  forked keeps holding the queues that it is inside, until it leaves them
//   the pool       has no thread, except the thread that forked if it was a worker
//   timers         are disarmed, and so is later work of asyncAfter(), as POSIX disarms alarms and
//                  timers: fork(3p)
//   other sources  receive nothing, until they are cancelled; new sources on the same descriptor do
//   a channel      ends its operations with ECANCELED, as POSIX does with asynchronous transfers
//   the main queue belongs to the thread that forked: it is the child's first thread
// Rejected: running queued work in both processes. Half of it might have run in one of them
// already, and a program that forks does not mean to send a message or a payment twice. Rejected:
// leaving the child without queues until execve(2), as elsewhere. A program that continues without
// execve(2) is not notified of its mistake before it hangs.
// The parent shares its descriptors with the child: a change of an epoll set, a timer, an inotify
// instance or a ring would affect both. So the child closes its copies and makes new ones when it
// needs them.
// This file registers the engine as a whole, and each part of it that is made on first use. The
// other rooms reset what is theirs in files of the same kind: see Lifecycle/ForkParticipant.
// Nothing is started here, and nothing made but the main queue's descriptor where a run loop has
// one: a child that calls execve(2) next should not pay for an engine.
// No handler can repair a lock of another library, the Swift runtime included, that another thread
// holds at the fork. Nor can it complete a wait for a parent's thread: a group that was entered
// there, a work item, a dispatch_once() in progress. A closure that runs for a waiting thread (a
// sync() to the main queue, iterations of concurrentPerform) must not return in the child: its
// caller's stack is given to new threads.
// A fork does not wait for a thread that is making `shared`: the child then finds it half made.
import CGrandCentralLinux

extension Runtime: ForkParticipant {
  static func makeShared() -> Runtime {
    var shared: Runtime?
    withAmpleStack { shared = make() }
    return shared.unsafelyUnwrapped
  }

  private static func make() -> Runtime {
    let made = Runtime(pool: Pool(.fromEnvironment()))
    for queue in made.allRoots as [Lane] + [made.main] { queue.isImmortal = true }
    // Made on first use, under no lock: make them before any thread forks. See `LazySlot`.
    _ = (NodeCache.depot, Lane.hierarchyLock, ThreadlessRetry.hasRetriers, Spin.isAlone)
    _ = (EffectControls.shared, ClassEffects.of(.default), Overrides.areResolved)
    // Types that the first use of a queue's values, or of a group's notifications, would meet.
    SpecificTable.meetTypes()
    DispatchGroup.meetTypes()
    // First: the other parts may write on the board.
    BlackBox.joinForksOnce()
    made.joinForks()
    ForkGate.install()
    DuplicateEngineCheck.reportOthers()
    WordSettings.check()
    // A main thread that ended before the engine's first use has called no exit handler. Last: what
    // came before resets the main queue (rehearseFork).
    if Process.mainThreadHasEnded { made.main.mainThreadEnds() }
    return made
  }

  func afterFork() {
    ThreadlessRetry.endAll()
    Lane.hierarchyLock.waiters = []
    Lane.hierarchyLock.isReported = false
    // Before the lanes change: this reads their words.
    let holds = LaneHolds(of: currentThread())
    pool.afterFork()
    LaneRegistry.visitAll { lane in
      // SAFETY: a lane leaves the registry before its memory is freed.
      lane._withUnsafeGuaranteedRef {
        $0.dropTurn()
        $0.afterFork(holds)
      }
    }
    main.afterFork()
  }

  func rehearseFork() {
    let thread = currentThread()
    pool.rehearseFork()
    // On an existing lane: a lane made for this would have to be destroyed before the program
    // begins.
    LaneHolds.rehearse(on: main, by: thread)
    LaneRegistry.visitAll { _ in }
    main.dropTurn()
    main.afterFork(LaneHolds(of: thread))
    main.rehearseFork()
  }
}

extension LazySlot {
  /// As for other parts, but registers the part when it is made: a part that must be reset in a
  /// forked child cannot be forgotten. Any thread.
  @inline(__always)
  func get<Part: ForkParticipant>(_ make: () -> Part) -> Part {
    reference(make).takeUnretainedValue()
  }

  /// As get(), without retaining the part.
  @inline(__always)
  func reference<Part: ForkParticipant>(_ make: () -> Part) -> Unmanaged<Part> {
    plainReference {
      let made = make()
      made.joinForks()
      return made
    }
  }
}

extension MainQueue: ForkParticipant {
  /// Nothing is queued. The parent shares the descriptor and would lose what the child reads. So
  /// the descriptor's number is given to a new eventfd, and its holders keep the number.
  func afterFork() {
    forgetDrains()
    let inherited = descriptor.load(ordering: .relaxed)
    if inherited < 0 { return }
    let own = EventFD.make()
    gc_close_inherited(inherited)
    guard own >= 0, !DescriptorSpace.isOpen(inherited) else {
      // None is to be had, or the program closed the parent's and uses the number itself.
      if own >= 0 { close(own) }
      descriptor.store(-1, ordering: .relaxed)
      return
    }
    gc_descriptor_move(own, inherited)
  }
}

extension Lane {
  /// Discards the work that waits for a run loop: it belongs to the parent. Not an override, which
  /// Swift requires in the class itself.
  fileprivate final func dropTurn() {
    // The class is final. A conditional cast would take longer than all else that most lanes need.
    guard type(of: self) == RunLoopTurns.self else { return }
    unsafeDowncast(self, to: RunLoopTurns.self).waiting = nil
  }
}

/// The fork handlers, for programs that call them explicitly.
package enum ForkHandlers {
  package static func install() { ForkGate.install() }
  package static func prepare() { ForkGate.prepare() }
  package static func resumeParent() { ForkGate.resumeParent() }
  package static func resumeChild() { ForkGate.resumeChild() }
}
