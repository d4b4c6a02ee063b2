// Room: Primitives/ForkGate. fork(2) copies memory and one thread. What that thread finds in the child must be whole.
// The other threads are gone, wherever they were. So before a fork nobody may be inside a lock of the engine: what locks
// guard is then whole in the child, and every lock is free. The one that forks closes the gate and waits until no other
// thread holds a lock; whoever comes to one meanwhile, and holds none, waits outside. No lock is held while a client's
// code runs or a system call sleeps, so that takes as long as the longest critical section.
//   a thread    locks = 1, then reads the closer
//   the forker  closer = itself, a barrier on every CPU, then reads all `locks`
// The barrier, membarrier(2), stands in each thread before its first step, after its second or between the two, and orders
// them there; so a thread pays no barrier of its own at each lock, where the kernel has that call (CLinux.c).
// Either the thread sees the closer, takes its 1 back and waits, or the forker sees the 1 and waits for it.
// Not one lock after the other, in order: there is one in each source, group and descriptor. What is not under a lock,
// the words that threads exchange, says in the child what threads did that are gone; each room makes its own anew
// (Queues/Runtime+Fork.swift).
// A child must not look a type up for the first time, nor make a global: another thread may have been doing so at the fork,
// under a lock of the Swift runtime that is never let go then. So what the child's handlers will do is rehearsed once in
// the process that registers them. What the program itself uses first in the child is in its own hands.
// The C library calls the handlers (pthread_atfork(3)); a program that makes its processes in another way may call them
// by hand, and to call them twice does no harm.
public import CLinux

public enum ForkGate {
  private static let state = ForkState()

  /// How many forks lie between the process that began and this one. Changes in a child only, before it has threads.
  public static var generation: UInt32 { state.generation.load(ordering: .relaxed) }

  /// Has the C library call the handlers. Before the program registers its own, if that can be: then those run outside
  /// of these. Idempotent; any thread.
  public static func install() { _ = installed }

  private static let installed: Void = {
    // ENOMEM: then a child must not use the engine, as with most libraries.
    _ = gc_at_fork(
      { ForkGate.prepare() }, { ForkGate.resumeParent() }, { ForkGate.resumeChild() })
  }()

  /// `handler` is called in each child, on its only thread, with the engine's locks free; in the order of adding.
  /// Before that `rehearsal` is called, now: it does the same to what nobody else knows of. Without one that is the
  /// handler itself, and what it is for is not known yet.
  public static func whenForked(
    _ handler: @escaping @Sendable () -> Void, rehearsal: (() -> Void)? = nil
  ) {
    rehearse()
    (rehearsal ?? handler)()
    state.lock.withLock { state.handlers.append(handler) }
  }

  /// Before a fork. Afterwards the same thread calls one of the others, in each of the two processes.
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

  public static func resumeParent() {
    guard isCloser(currentThread()) else { return }
    state.depth -= 1
    if state.depth > 0 { return }
    ThreadRegistry.unlock()
    gc_fork_open()
  }

  public static func resumeChild() {
    // Under the thread sanitizer the Swift runtime locks at each look at a type or a `static let`, so a child of busy
    // threads would stop here, before it came as far as execve(2); and no thread may be made in it in any case.
    if gc_is_watched_for_races() { return gc_fork_open() }
    let thread = currentThread()
    let isPrepared = isCloser(thread)
    // Called by hand, once more, or where there was no fork.
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

  /// Not from install(): a loader may call that before the libraries have told the Swift runtime of their types.
  private static func rehearse() {
    _ = state.generation.load(ordering: .relaxed)
    callAll([])
    state.lock.lockPlainly()
    state.lock.wake()
    state.lock.unlockPlainly()
  }

  /// No fork happens while `body` runs on `thread`, the calling one; it must not sleep. For a thread's first steps: what
  /// the Swift runtime makes then, metadata and `static let`s, it makes under locks of its own, which no handler knows.
  @inline(__always)
  public static func inside(_ thread: ThreadContext, _ body: () -> Void) {
    enter(thread)
    body()
    leave(thread)
  }

  /// The beginning and the end of that.
  @inlinable @inline(__always)
  public static func enter(_ thread: ThreadContext) {
    if !gc_lock_enter(thread) { waitToEnter(thread) }
  }
  @inlinable @inline(__always)
  public static func leave(_ thread: ThreadContext) { gc_lock_leave(thread) }

  // MARK: Threads that wait

  /// After gc_lock_enter() returned false, until it returns true.
  @usableFromInline @inline(never)
  static func waitToEnter(_ thread: ThreadContext) {
    repeat {
      gc_lock_leave(thread)
      waitUntilOpen()
    } while !gc_lock_enter(thread)
  }

  private static func waitUntilOpen() {
    let turn = gc_fork_seen_turn()
    // After the turn was read: if it is opened now, the turn is another and the sleep does not begin.
    if gc_fork_seen_closer() == 0 { return }
    gc_fork_wait(turn)
  }

  /// Not woken, which would put a barrier into every unlock: whoever is inside is out in a moment.
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
  /// How often the closer has come to prepare(). Its own.
  var depth = 0
  let generation = Atomic<UInt32>(0)
  let process = Atomic<UInt32>(gc_process_id())
}
