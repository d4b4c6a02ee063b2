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
// Nothing is started here, and nothing made but the main queue's descriptor where a run loop has
// one: a child that calls execve(2) next should not pay for an engine.
// No handler can repair a lock of another library, the Swift runtime included, that another thread
// holds at the fork. Nor can it complete a wait for a parent's thread: a group that was entered
// there, a work item, a dispatch_once() in progress. A closure that runs for a waiting thread (a
// sync() to the main queue, iterations of concurrentPerform) must not return in the child: its
// caller's stack is given to new threads.
// A fork does not wait for a thread that is making `shared`: the child then finds it half made.

extension Runtime {
  static func makeShared() -> Runtime {
    let made = Runtime(pool: Pool(.fromEnvironment()))
    for queue in made.allRoots as [Lane] + [made.main] { queue.isImmortal = true }
    // Made on first use, under no lock: make them before any thread forks. See `LazySlot`.
    _ = (NodeCache.depot, Lane.hierarchyLock, ThreadlessRetry.isKept, Spin.isAlone)
    _ = (EffectControls.shared, ClassEffects.of(.default), Overrides.areResolved)
    ForkGate.whenForked {
      made.afterFork()
    } rehearsal: {
      made.rehearseFork()
    }
    ForkGate.install()
    DuplicateEngineCheck.reportOthers()
    return made
  }

  /// Resets the engine in the child, on its only thread, with all locks free.
  private func afterFork() {
    let thread = currentThread()
    ThreadlessRetry.endAll()
    Lane.hierarchyLock.waiters = []
    // Before the lanes change: this reads their words.
    let holds = LaneHolds(of: thread)
    pool.afterFork(on: thread)
    LaneRegistry.visitAll { lane in
      // SAFETY: a lane leaves the registry before its memory is freed.
      lane._withUnsafeGuaranteedRef { $0.afterFork(holds) }
    }
    main.afterFork()
  }

  /// Runs the child's steps once, before any other thread has this runtime: see ForkGate.
  private func rehearseFork() {
    let thread = currentThread()
    pool.afterFork(on: thread)
    // On an existing lane: a lane made for this would have to be destroyed before the program
    // begins.
    LaneHolds.rehearse(on: main, by: thread)
    LaneRegistry.visitAll { _ in }
    main.afterFork(LaneHolds(of: thread))
    main.afterFork()
  }
}

/// The fork handlers, for programs that call them explicitly.
package enum ForkHandlers {
  package static func install() { ForkGate.install() }
  package static func prepare() { ForkGate.prepare() }
  package static func resumeParent() { ForkGate.resumeParent() }
  package static func resumeChild() { ForkGate.resumeChild() }
}
