// Room: Primitives/ForkGate. Keeps the engine's data whole across fork(2), which copies memory and
// one thread.
// Invariant: at a fork no other thread holds a lock of the engine. In the child every lock is
// therefore free, and the data that it guards is whole. The forking thread closes the gate and
// waits until no other thread holds a lock. A thread without a lock that wants one meanwhile waits
// outside. No lock is held while client code runs or a system call sleeps, so the wait lasts as
// long as the longest critical section.
//   a thread    locks = 1, then reads the closer
//   the forker  closer = itself, a barrier on every CPU, then reads all `locks`
// The barrier is membarrier(2). In each thread it takes effect before the first step, after the
// second, or between them, and orders them there. So where the kernel has the call, a thread needs
// no barrier at each lock (CLinux.c). Either the thread sees the closer, takes its 1 back and
// waits, or the forker sees the 1 and waits for the thread.
// Locks are not taken one by one in an order, because each source, group and descriptor has one.
// Words that threads exchange without a lock describe threads that the child does not have; each
// folder makes its own anew (Queues/Runtime+Fork.swift).
// A child must not look up a type or initialise a global for the first time: another thread may
// have been doing so at the fork, under a lock of the Swift runtime that is then never released. So
// the process that registers a child handler rehearses it once. First uses by the program itself
// are the program's responsibility.
// The C library calls the handlers (pthread_atfork(3)). A program that makes processes in another
// way may call them itself; calling them twice is harmless.
public import CLinux

public enum ForkGate {
  private static let state = ForkState()

  /// The number of forks between the first process and this one. It changes only in a child, before
  /// the child has threads.
  public static var generation: UInt32 { state.generation.load(ordering: .relaxed) }

  /// Registers the handlers with the C library. Call it before the program registers its own, if
  /// possible; those then run outside of these. Idempotent; any thread.
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
    state.lock.withLock { state.handlers.append(handler) }
  }

  /// Closes the gate before a fork. The same thread then calls one of the functions below in each
  /// of the two processes.
  public static func prepare() {
    let thread = currentThread()
    if isCloser(thread) {
      state.depth += 1
      return
    }
    while !gc_fork_close(thread) { waitUntilOpen() }
    state.depth = 1
    var next = ThreadRegistry.known
    while let other = next {
      next = other.pointee.next_known
      if other != thread { waitUntilOutside(other) }
    }
    ThreadRegistry.lock()
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
    if gc_is_watched_for_races() { return gc_fork_open() }
    let thread = currentThread()
    let isPrepared = isCloser(thread)
    // A second call, or a call without a fork.
    if !isPrepared && gc_process_id() == state.process.load(ordering: .relaxed) { return }
    state.depth = 0
    state.process.store(gc_process_id(), ordering: .relaxed)
    state.generation.wrappingAdd(1, ordering: .relaxed)
    ThreadRegistry.keepOnly(thread)
    if isPrepared { ThreadRegistry.unlock() }
    callAll(state.lock.withLock { state.handlers })
    gc_fork_open()
  }

  private static func callAll(_ handlers: [@Sendable () -> Void]) {
    for handler in handlers { handler() }
  }

  /// Takes the steps of a child once, in this process. Not called from install(): a loader may call
  /// that before the libraries have registered their types with the Swift runtime.
  private static func rehearse() {
    _ = state.generation.load(ordering: .relaxed)
    callAll([])
    state.lock.lockPlainly()
    state.lock.wake()
    state.lock.unlockPlainly()
  }

  /// Runs `body` while no fork can happen. `thread` must be the calling thread; `body` must not
  /// sleep. For the first steps of a thread: the Swift runtime then makes metadata and `static
  /// let`s under locks of its own, which no fork handler covers.
  @inline(__always)
  public static func inside(_ thread: ThreadContext, _ body: () -> Void) {
    enter(thread)
    body()
    leave(thread)
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

private final class ForkState: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock.
  var handlers: [@Sendable () -> Void] = []
  /// The number of calls of prepare() by the closer. Used by the closer alone.
  var depth = 0
  let generation = Atomic<UInt32>(0)
  let process = Atomic<UInt32>(gc_process_id())
}
