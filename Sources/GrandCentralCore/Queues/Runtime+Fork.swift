// Room: Queues/Runtime+Fork. The engine in a child that was forked.
// fork(2) copies the queues, not the work. What was submitted before it is the parent's, and runs there, once; so do
// handlers, finalizers, and the deinits of closures, which is why the child leaves these in memory as they are. In the
// child
//   a queue        is idle, with the targets, values and suspensions that it had. What the thread that forked is inside of
//                  goes on being held by it, until it comes back
//   the pool       has no thread but that one, if it was a worker
//   a timer, and what asyncAfter() was given for later: disarmed. POSIX has it so for alarms and timers: fork(3p)
//   other sources  hear nothing, until they are cancelled; new ones on the same descriptor do
//   a channel      ends what it is asked for with ECANCELED. POSIX has it so for asynchronous transfers
//   the main queue is that of the thread that forked: it is the child's first
// Not: to run in both what was queued. Half of it would have run in one of them already, and nobody submits a message or
// a payment twice by forking. Not: to leave the child without queues, as elsewhere, until it has called execve(2): a
// program that goes on is not told of its mistake before it hangs.
// The parent's descriptors are shared by the child: epoll sets, timers, inotify instances and rings would be changed in
// both, so the child closes its own of them and makes others when it needs some.
// Nothing is made or started here: a child that calls execve(2) next should not pay for an engine.
// What no handler can mend: locks of other libraries, the Swift runtime's among them, that another thread holds at the
// fork; and whoever waits for something that a thread of the parent was to do: a group that was entered there, a work
// item, a dispatch_once() under way. A closure that runs for a thread which waits (a sync() to the main queue, iterations
// of concurrentPerform) must not return in the child: its caller's stack is given to new threads.
// First use and fork at a time: a thread that is just making `shared` is not seen by one that forks.

extension Runtime {
  static func makeShared() -> Runtime {
    let made = Runtime(pool: Pool(.fromEnvironment()))
    for queue in made.allRoots as [Lane] + [made.main] { queue.isEverlasting = true }
    // What is made when it is first asked for, and is under no lock: now, before anybody forks. See LatePart.
    _ = (NodeCache.depot, Lane.hierarchyLock, Vigil.isKept, Spin.isAlone)
    _ = (EffectControls.shared, ClassEffects.of(.default), Overrides.areResolved)
    ForkGate.whenForked {
      made.afterFork()
    } rehearsal: {
      made.rehearseFork()
    }
    ForkGate.install()
    Copies.reportOthers()
    return made
  }

  /// In the child, by its only thread, with all locks free.
  private func afterFork() {
    let thread = currentThread()
    Vigil.endAll()
    Lane.hierarchyLock.waiters = []
    // Before lanes change: it reads their words.
    let holds = LaneHolds(of: thread)
    pool.afterFork(on: thread)
    LaneRegistry.visitAll { lane in
      // SAFETY: a lane leaves the registry before its memory goes.
      lane._withUnsafeGuaranteedRef { $0.afterFork(holds) }
    }
    main.afterFork()
  }

  /// Before anybody has this runtime: see ForkGate.
  private func rehearseFork() {
    let thread = currentThread()
    pool.afterFork(on: thread)
    // On a lane that there is: one for this alone would have to die before the program has begun.
    LaneHolds.rehearse(on: main, by: thread)
    LaneRegistry.visitAll { _ in }
    main.afterFork(LaneHolds(of: thread))
    main.afterFork()
  }
}

/// The handlers, for programs that call them by hand.
package enum ForkHandlers {
  package static func install() { ForkGate.install() }
  package static func prepare() { ForkGate.prepare() }
  package static func resumeParent() { ForkGate.resumeParent() }
  package static func resumeChild() { ForkGate.resumeChild() }
}
