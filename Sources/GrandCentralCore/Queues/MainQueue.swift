// Room: Queues/MainQueue. The serial lane that only the main thread drains, as long as that lives:
// see MainQueue+End. Its activation is a bit of `signal` instead of a node: see MainSignal.
// A run loop uses a descriptor, which becomes readable whenever work is announced.

final class MainQueue: DispatchSerialQueue, @unchecked Sendable {
  let signal = Atomic<MainSignal>(.empty)
  /// An eventfd for run loops; -1 until a run loop requests it.
  let descriptor = Atomic<Int32>(-1)
  private let descriptorLock = Lock()
  /// Whether a thread drains the queue: in dispatchMain(), or as a run loop. Until then the board
  /// shows since when work waits (`isShown`), so that a reader can say why it does not run.
  let isDrained = Atomic<Bool>(false)
  private let isShown = Atomic<Bool>(false)
  // See MainQueue+End.
  let drainer = Atomic<UInt>(Drainer.main)
  let workers: Unmanaged<Lane>?

  /// `workers`: the root whose workers drain the queue after the main thread's end; `nil`: none do.
  /// The caller keeps it: its pool retains this queue, so the queue must not retain it.
  init(workers: DispatchQueue? = nil) {
    self.workers = workers.map { .passUnretained($0) }
    super.init(
      root: "com.apple.main-thread", kind: .bound, qos: PackedQoS(band: .userInteractive))
  }

  override func wakeBoundThread() {
    // relaxed: a stale value costs a note on the board, which the next drain takes back.
    if !isDrained.load(ordering: .relaxed) { showWork() }
    // sequentiallyConsistent: with runLoopDescriptor(): either this thread sees the descriptor, or
    // the other thread sees the bit. A read-modify-write, so that it passes on what joinRetry()
    // released.
    let need = signal.change(.sequentiallyConsistent) { $0.announced() }
    let descriptor = descriptor.load(ordering: .sequentiallyConsistent)
    if descriptor >= 0 { EventFD.signal(descriptor) }
    switch need {
    case .nothing: break
    case .wakeMain: futexWake(signal)
    case .sendWorker: sendWorker()
    }
  }

  override var boundThread: ThreadContext? { drainingThread }

  @inline(never)
  private func showWork() {
    noteUndrained()
    // releasing: pairs with drainOnce(), which takes the note back. The signal word, which changes
    // after this one, makes the drain see it.
    isShown.store(true, ordering: .releasing)
  }

  /// Runs what is queued now; what these items add waits for the next call. Main thread only; does
  /// nothing when called from an item of the main queue. Returns whether there was work to run.
  @discardableResult
  func drainOnce() -> Bool {
    let thread = currentThread()
    // relaxed: see wakeBoundThread(). The load keeps the word's cache line shared.
    if !isDrained.load(ordering: .relaxed) { isDrained.store(true, ordering: .relaxed) }
    guard !Frames(thread: thread).contains(where: { $0 === self }),
      // acquiring: pairs with joinRetry(). The lane's own word publishes the work that
      // wakeBoundThread() announces.
      signal.change(.acquiring, by: { $0.taken() })
    else { return false }
    takeNoteBack()
    drainForOwner(on: thread)
    return true
  }

  /// Takes the note on the board back. The caller has an activation.
  func takeNoteBack() {
    // relaxed: what the exchange that passed the activation has seen is enough. acquiring: the note
    // precedes what is written here. A note that comes later sets the flag again, before it is
    // announced.
    if isShown.load(ordering: .relaxed), isShown.exchange(false, ordering: .acquiring) {
      noteDrained()
    }
  }

  /// For a forked child. The queue belongs to the thread that forked, which is the child's main
  /// thread. But a worker that forked in an item of the queue, after the parent's main thread had
  /// ended, returns to its pool: workers drain the queue of such a child too.
  func forgetDrains() {
    let isWorkers = drainer.load(ordering: .relaxed) == UInt(bitPattern: currentThread())
    isDrained.store(isWorkers, ordering: .relaxed)
    isShown.store(false, ordering: .relaxed)
    signal.store(isWorkers ? .mainEnded : .empty, ordering: .relaxed)
    // releasing: at the engine's first use, which rehearses this, the main thread may be ending.
    if !isWorkers { drainer.store(Drainer.main, ordering: .releasing) }
  }

  /// Makes the calling thread, the main one, the run loop of this queue and of the main queue of
  /// another Dispatch library, for the rest of the process.
  func serveForEver() -> Never {
    BlackBox.open()
    ForeignMainQueue.join(self)
    drainForEver()
  }

  func drainForEver() -> Never {
    // Workers drain the queue, and wake no thread for it.
    while signal.load(ordering: .relaxed).hasEnded { pause() }
    var adaptiveSearch = AdaptiveSearch()
    while true {
      while drainOnce() {}
      // relaxed: drainOnce() checks the word again.
      if adaptiveSearch.isWorthwhile,
        adaptiveSearch.search({ signal.load(ordering: .relaxed) != .empty ? () : nil }) != nil
      {
        continue
      }
      let begin = Clock.monotonicNanoseconds()
      grandCentralMainIdle()
      adaptiveSearch.slept(nanoseconds: Clock.monotonicNanoseconds() - begin)
    }
  }

  /// Ends the main thread's sleep in dispatchMain(). Its next sleep takes part in the threadless
  /// retry that has just begun. Any thread.
  func joinRetry() {
    // releasing: pairs with the exchange in drainOnce(), after which the main thread sees the
    // retry. The change of the word also prevents a sleep that is about to begin. The word changes
    // even where there is work and the main thread must be awake: a load alone would order nothing,
    // and the main thread might go to sleep without having seen the retry.
    let wakes = signal.change(.releasing) { $0.called() }
    if wakes { futexWake(signal) }
  }

  /// Sleeps until there is work. Not inlined: this frame in a backtrace shows an idle main thread.
  @inline(never)
  func grandCentralMainIdle() {
    // relaxed: publishes and reads nothing else. If the transition is refused, the caller makes
    // another pass.
    guard signal.transition(.relaxed, to: { $0.fellAsleep() }) else { return }
    let thread = currentThread()
    BlackBox.noteIdle(thread)
    _ = futexWait(signal, while: MainSignal.asleep.rawValue)
    BlackBox.noteAwake(thread)
  }

  /// Returns a non-blocking eventfd(2) that becomes readable when work comes to the main queue; the
  /// same descriptor at each call. Throws an errno.
  // The engine never reads it. The run loop empties it before it calls drain(), so a signal that
  // comes during the drain makes it readable again. A drain() in an item of the main queue does
  // nothing and loses no signal: while the item runs the lane is locked, so pushes only queue, and
  // the outer drain signals again if it leaves work behind (moveOn).
  func runLoopDescriptor() throws(SystemError) -> Int32 {
    BlackBox.open()
    descriptorLock.lock()
    defer { descriptorLock.unlock() }
    let existing = descriptor.load(ordering: .relaxed)
    if existing >= 0 { return existing }
    let made = EventFD.make()
    guard made >= 0 else { throw SystemError(number: errno) }
    descriptor.store(made, ordering: .sequentiallyConsistent)
    if signal.load(ordering: .sequentiallyConsistent).hasWork { EventFD.signal(made) }
    return made
  }
}

/// Runs the main queue on the main thread and never returns.
///
/// Call it as the last thing in a program without a run loop. End the process with `exit`. Jobs of
/// the main actor run too, and operations of Foundation's `OperationQueue.main`. If another
/// Dispatch library receives them, because the program only imports GrandCentral, its main queue is
/// drained as part of this one.
///
/// - Important: Called on another thread, or from an item of the main queue, it stops the process
///   with a message.
/// - Source: Apple, Dispatch, `dispatchMain()`.
public func dispatchMain() -> Never {
  require(
    ThreadRegistry.isMainThread,
    "dispatchMain() was called off the main thread. Call it at the end of the program's main function."
  )
  require(
    !Frames(thread: currentThread()).contains { $0 === Runtime.shared.main },
    "dispatchMain() was called from an item of the main queue, which it would never return to.")
  Runtime.shared.main.serveForEver()
}

/// The interface for run loops, not for programs.
@_spi(RunLoop)
public enum MainQueueRunLoop {
  /// Returns the descriptor that becomes readable when work comes to the main queue.
  ///
  /// Call from any thread. When the descriptor is readable, read it and then call `drain()`, in
  /// this order: a read after `drain()` would lose the signal for work that came meanwhile.
  ///
  /// - Returns: an eventfd(2), the same at each call; -1 if the kernel refuses one, with errno set.
  /// - Source: `_dispatch_get_main_queue_handle_4CF`, the symbol that CoreFoundation calls.
  public static func descriptor() -> Int32 {
    do { return try Runtime.shared.main.runLoopDescriptor() } catch {
      errno = error.number
      return -1
    }
  }

  /// Runs what is queued on the main queue now.
  ///
  /// Call on the main thread; on another thread it stops the process.
  ///
  /// - Source: `_dispatch_main_queue_callback_4CF`, the symbol that CoreFoundation calls.
  public static func drain() {
    require(
      ThreadRegistry.isMainThread, "The main queue can be drained on the main thread only.")
    // The run loop may sleep next, which is no item of the main queue.
    if Runtime.shared.main.drainOnce() { BlackBox.noteNoQueue(on: currentThread()) }
  }
}
