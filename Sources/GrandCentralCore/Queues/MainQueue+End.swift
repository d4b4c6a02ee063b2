// Room: Queues/MainQueue+End. The main queue after the end of the main thread, which can come
// before that of the process: pthread_exit(3). Workers drain the queue from then on, one at a time.
// An activation is then a node that goes to a root. If it was announced before the exchange of
// `signal` by which the main thread ends, that thread sends the node, and otherwise the thread that
// announces it. So each activation passes to one worker, and the lane is locked until that worker
// has drained it.
// The end is noticed by the thread's exit handler, which a main thread gets with the image of the
// engine (CLinux/ThreadEnds.c), and at the engine's first use. The two may come at the same time.
// Not noticed is the end of a main thread that has never used the engine, if another thread has
// loaded it by dlopen(3) and used it before.
import CGrandCentralLinux

extension MainQueue {
  /// The values of `drainer` that are no thread's context.
  enum Drainer {
    /// The main thread lives, and the queue belongs to it.
    static var main: UInt { 0 }
    /// The main thread has ended, and no worker drains the queue now.
    static var none: UInt { 1 }
  }

  /// The thread that the queue belongs to now.
  var drainingThread: ThreadContext? {
    // relaxed: an identity that is compared only. A thread sees the value that it has written
    // itself.
    switch drainer.load(ordering: .relaxed) {
    case Drainer.main: ThreadRegistry.mainThread
    case Drainer.none: nil
    case let worker: ThreadContext(bitPattern: worker)
    }
  }

  /// Passes the queue to the workers. Called by the main thread, at its end, and by a thread that
  /// notices the end.
  func mainThreadEnds() {
    // A destructor that uses the engine after this makes the thread end once more: then a worker
    // may be named. acquiring: `signal` is changed after forgetDrains() has reset it.
    let (isFirst, _) = drainer.compareExchange(
      expected: Drainer.main, desired: Drainer.none, ordering: .acquiring)
    guard isFirst else { return }
    isDrained.store(true, ordering: .relaxed)
    // An item that has ended the thread never returns, so the thread still has its activation.
    let isInside = Frames(thread: currentThread()).contains { $0 === self }
    // releasing: a worker names itself in `drainer` after this thread has written it. acquiring:
    // the node passes on that the announcing thread has written a note on the board.
    if signal.change(.acquiringAndReleasing, by: { $0.ended() }) || isInside { sendWorker() }
  }

  /// Makes a worker drain the queue. The caller has an activation, which passes to the worker.
  @inline(never)
  func sendWorker() {
    guard let workers else { return }
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.entry = Self.workerEntry
    node.context = address
    // The class of the main thread.
    node.traits = WorkTraits(qos: PackedQoS(band: .userInteractive)).union(.lane)
    // SAFETY: a root lives as long as the engine.
    workers._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
  }

  private static let workerEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let main = Unmanaged<MainQueue>.fromOpaque(node.context.unsafelyUnwrapped)
    NodeCache.put(node, thread)
    // SAFETY: the pool, which its threads retain, retains the main queue: see Runtime.
    main._withUnsafeGuaranteedRef {
      $0.takeNoteBack()
      $0.drainForOwner(on: thread, namedIn: $0.drainer, otherwise: Drainer.none)
    }
  }
}
