// Room: Primitives/ForkGate. Keeps the engine's data whole across fork(2), which copies memory and
// one thread.
//   gate    passed before each lock and each section that a fork must not divide
//   inside  a thread that holds such a lock, waits for one, or is in such a section
//   closer  the thread that has closed the gate because it is about to fork; 0: the gate is open
//   turn    the number of times that the gate was opened; threads outside sleep on it
//   depth   the number of calls of prepare() by the closer that are not yet matched by
//           resumeParent() or resumeChild()
// Invariant: at a fork no other thread is inside. In the child every lock is therefore free, and
// the data that it guards is whole. The closer waits until no other thread is inside; a thread that
// wants to enter meanwhile waits outside, unless it is inside already: a nested entry always
// passes. Client code never runs under a lock. A few system calls run under one and may sleep
// (inotify_add_watch, a report, io_uring_setup, those that make the board); a fork then waits for
// them.
//   a thread    locks = 1, then reads the closer
//   the forker  closer = itself, a barrier on every CPU, then reads all `locks`
// The barrier is membarrier(2). In each thread it takes effect before the first step, after the
// second, or between them, and orders them there. So where the kernel has the call, a thread needs
// no barrier at each lock (CLinux/Fork.c). Either the thread sees the closer, takes its 1 back and
// waits, or the forker sees the 1 and waits for the thread.
// Locks are not taken one by one in an order, because each source, group and descriptor has one.
// Words that threads exchange without a lock describe threads that the child does not have; each
// room makes its own anew (Lifecycle/ForkParticipant).
// A child handler must not look up a type or initialise a global for the first time: another thread
// may have been doing so at the fork, under a lock of the Swift runtime that is then never
// released. So the process that registers a child handler rehearses it once. Later first uses in
// the child can meet the same lock; the engine does not cover them.
// The C library calls the handlers (pthread_atfork(3)). A program that makes processes in another
// way may call them itself; calling them twice is harmless.
public import CGrandCentralLinux

public enum ForkGate {
  private static let state = ForkState()

  /// The number of forks between the first process and this one. It changes only in a child, before
  /// the child has threads.
  public static var generation: UInt32 { state.generation.load(ordering: .relaxed) }

  /// Registers the handlers with the C library. Call it before the program registers its own, if
  /// possible. Then the program's prepare handlers run before the gate closes and its other
  /// handlers after it opens, so they may use the engine. Idempotent; any thread. Without
  /// whenForked() nothing is rehearsed and nothing need be: the child then takes no step that
  /// prepare() has not made safe (see rehearse()).
  public static func install() { _ = installed }

  private static let installed: Void = {
    // On ENOMEM a child must not use the engine, as with most libraries.
    _ = gc_at_fork(
      { ForkGate.prepare() }, { ForkGate.resumeParent() }, { ForkGate.resumeChild() })
  }()

  /// Registers a handler that runs in each child, on its only thread, with the engine's locks free.
  /// Handlers run in the order of registration. `rehearsal` runs at once: it does the same to
  /// objects that are not shared. Without it `handler` itself runs at once, before its object is
  /// shared.
  public static func whenForked(
    _ handler: @escaping @Sendable () -> Void, rehearsal: (() -> Void)? = nil
  ) {
    rehearse()
    (rehearsal ?? handler)()
    state.lock.withLock {
      state.handlers.append(handler)
      state.hasHandlers = true
    }
  }

  /// Closes the gate before a fork. The same thread then calls one of the functions below in each
  /// of the two processes. The calling thread holds no lock of the engine, because client code
  /// never runs under one. Not checked in release builds: a fork in a signal handler may come at
  /// any point, and is safe at most of them.
  public static func prepare() {
    if gc_fork_is_given_up() { return }
    let thread = currentThread()
    if isCloser(thread) {
      state.depth += 1
      return
    }
    assert(gc_locks_of(thread) == 0, "a fork inside a lock of the engine")
    while !gc_fork_close(thread) { waitUntilOpen() }
    state.depth = 1
    // A thread that registers during the walk took the registry's lock after the closer was stored,
    // so it sees the closer.
    var next = ThreadRegistry.known
    while let other = next {
      next = other.pointee.next_known
      if other != thread { waitUntilOutside(other) }
    }
    // Held over the fork, because it bypasses the gate: no thread is added to the list meanwhile.
    ThreadRegistry.lock()
    gc_fork_hold(ThreadRegistry.lockWord)
  }

  /// Opens the gate in the parent.
  public static func resumeParent() {
    guard isCloser(currentThread()) else { return }
    state.depth -= 1
    if state.depth > 0 { return }
    ThreadRegistry.unlock()
    gc_fork_open()
  }

  /// Opens the gate in the child, after the child handlers.
  public static func resumeChild() {
    // Under the thread sanitizer the Swift runtime takes a lock at each access of a type or a
    // `static let`. A child of busy threads would block here, before it reaches execve(2). It may
    // not make threads in any case.
    if gc_is_watched_for_races() {
      if let thread = gc_thread_current() { gc_fork_give_up(thread) }
      return
    }
    let thread = currentThread()
    let isPrepared = isCloser(thread)
    // A second call, or a call without a fork.
    if !isPrepared && gc_process_id() == state.process.load(ordering: .relaxed) { return }
    // First: a later handler must not find the ring in use, or a thread of the parent.
    gc_leave_to_parent()
    state.depth = 0
    state.process.store(gc_process_id(), ordering: .relaxed)
    state.generation.wrappingAdd(1, ordering: .relaxed)
    ThreadRegistry.keepOnly(thread)
    if isPrepared { ThreadRegistry.unlock() }
    if state.hasHandlers { callAll(state.lock.withLock { state.handlers }) }
    gc_fork_open()
  }

  private static func callAll(_ handlers: [@Sendable () -> Void]) {
    for handler in handlers { handler() }
  }

  /// Takes the steps of resumeChild() that need types once, in this process: the loop over the
  /// handlers, the lock, the generation. The others (`depth`, the stores of the two atomics,
  /// keepOnly()) need no rehearsal. They use `state` and the registry, whose globals and objects
  /// prepare() has used on the same thread, and otherwise they only store integers.
  /// Not called from install(): a loader may call that before the libraries have registered their
  /// types with the Swift runtime.
  private static func rehearse() {
    _ = state.generation.load(ordering: .relaxed)
    callAll([])
    state.lock.lockPlainly()
    // By itself, because this unlock finds no sleeping thread. In a child an unlock may find the
    // mark of a thread that slept in the parent, and then wakes.
    state.lock.wake()
    state.lock.unlockPlainly()
  }

  /// Runs `body` while no fork can happen. `thread` must be the calling thread; `body` must not
  /// sleep. For the first steps of a thread: the Swift runtime then makes metadata and `static
  /// let`s under locks of its own, which no fork handler covers.
  ///
  /// A thread of the engine is inside from its start until it may next sleep or run client code. So
  /// a worker leaves before it looks for work, which is client code; the monitor before its loop,
  /// which sleeps; a poller in its first wait. First uses after that are not covered.
  @inline(__always)
  public static func inside(_ thread: ThreadContext, _ body: () -> Void) {
    enter(thread)
    body()
    leave(thread)
  }

  /// Runs `body`, which may sleep and run client code, while forks can happen, in a section in
  /// which none can. `thread` must be the calling thread, once inside.
  @inline(__always)
  public static func outside<Result>(_ thread: ThreadContext, _ body: () -> Result) -> Result {
    leave(thread)
    // In a child that `body` forked, the gate is open too.
    defer { enter(thread) }
    return body()
  }

  /// Begins a section in which no fork can happen; leave() ends it.
  @inlinable @inline(__always)
  public static func enter(_ thread: ThreadContext) {
    if !gc_lock_enter(thread) { waitToEnter(thread) }
  }
  @inlinable @inline(__always)
  public static func leave(_ thread: ThreadContext) { gc_lock_leave(thread) }

  // MARK: Threads that wait

  /// Waits until gc_lock_enter() returns true. Call it after gc_lock_enter() has returned false.
  @usableFromInline @inline(never)
  static func waitToEnter(_ thread: ThreadContext) {
    repeat {
      gc_lock_leave(thread)
      waitUntilOpen()
    } while !gc_lock_enter(thread)
  }

  private static func waitUntilOpen() {
    let turn = gc_fork_seen_turn()
    // Read after the turn: if the gate opens now, the turn changes and the wait returns at once.
    if gc_fork_seen_closer() == 0 { return }
    gc_fork_wait(turn)
  }

  /// Polls until `other` holds no lock. A wake-up instead would need a barrier in every unlock, and
  /// critical sections are short.
  private static func waitUntilOutside(_ other: ThreadContext) {
    var looks = 0
    while gc_locks_of(other) != 0 {
      looks += 1
      if looks < 100 {
        sched_yield()
      } else {
        usleep(50)
      }
    }
  }

  private static func isCloser(_ thread: ThreadContext) -> Bool {
    gc_fork_seen_closer() == UInt(bitPattern: thread)
  }
}

// MARK: What this module resets

extension ThreadRegistry {
  /// All contexts, linked by `next_known`.
  fileprivate static var known: ThreadContext? { state.withLock { state.known } }
  fileprivate static func lock() { state.lock.lockPlainly() }
  fileprivate static func unlock() { state.lock.unlockPlainly() }
  fileprivate static var lockWord: UnsafeMutablePointer<UInt32> {
    withUnsafePointer(to: state.lock.word) {
      // SAFETY: the registry lives as long as the process, and an atomic word has the layout of its
      // value.
      UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: UInt32.self)
    }
  }

  /// Resets the contexts of all threads but `thread` in a forked child. The contexts of threads
  /// that existed are never reused: this thread may be working for one of them and still refer to
  /// it. Free contexts stay free.
  fileprivate static func keepOnly(_ thread: ThreadContext) {
    var next = state.known
    while let other = next {
      next = other.pointee.next_known
      if other == thread { continue }
      other.shared.threadID.store(0, ordering: .relaxed)
      other.shared.workingOn.store(0, ordering: .relaxed)
      // The fork may have caught a thread at the gate, between its two steps.
      other.pointee.locks = 0
    }
    thread.pointee.tid = gc_thread_id()
    thread.pointee.is_main = true
    thread.shared.threadID.store(thread.pointee.tid, ordering: .relaxed)
    state.mainThread.store(UInt(bitPattern: thread), ordering: .relaxed)
  }
}

extension ThreadlessRetry {
  /// Removes all retriers in a forked child, whose engine has nothing to retry.
  public static func endAll() { retriers.change { $0 = [] } }
}

private final class ForkState: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock.
  var handlers: [@Sendable () -> Void] = []
  /// Written under the lock; read in a child, which has no other thread. An array's own count would
  /// need its type.
  var hasHandlers = false
  /// The number of calls of prepare() by the closer. Used by the closer alone.
  var depth = 0
  let generation = Atomic<UInt32>(0)
  let process = Atomic<UInt32>(gc_process_id())
}
