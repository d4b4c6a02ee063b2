// Room: Primitives/ThreadRegistry. The contexts of all threads that have called the engine.
// Free contexts are on a list under a lock. A thread takes one at its first call into the engine
// and puts it back when it ends, unless it still owns queues.
public import CGrandCentralLinux

/// The calling thread's context. Registers the thread at the first call.
@inlinable @inline(__always)
public func currentThread() -> ThreadContext {
  if let thread = gc_thread_current() { return thread }
  return ThreadRegistry.registerCurrentThread()
}

/// Tells the CPU that the thread spins.
@inlinable @inline(__always)
public func spinHint() { gc_spin_hint() }

public enum ThreadRegistry {
  static let state = RegistryState()

  /// Sets the function that is called with a thread's context when the thread ends, before the
  /// context is free. The main thread gets a context for that if it has none.
  public static func setExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {
    state.withLock { state.exitHandler = handler }
    gc_at_main_end { _ = currentThread() }
  }

  /// The same, unless a function is set already.
  public static func setFirstExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {
    let isFirst = state.withLock {
      if state.exitHandler != nil { return false }
      state.exitHandler = handler
      return true
    }
    if isFirst { gc_at_main_end { _ = currentThread() } }
  }

  /// The main thread's context, or `nil` before its first call into the engine and after its end.
  public static var mainThread: ThreadContext? {
    ThreadContext(bitPattern: state.mainThread.load(ordering: .relaxed))
  }

  /// Whether the calling thread is the first thread of the process.
  public static var isMainThread: Bool { gc_thread_id() == gc_process_id() }

  @usableFromInline @inline(never)
  static func registerCurrentThread() -> ThreadContext {
    let thread = state.withLock { state.takeContext() }
    thread.pointee.tid = gc_thread_id()
    thread.shared.threadID.store(thread.pointee.tid, ordering: .relaxed)
    // The main thread is user-interactive (5, see QoS/QoSPropagation); others have no class of
    // their own.
    thread.pointee.qos = isMainThread ? 5 : 0
    thread.pointee.applied = thread.pointee.qos
    thread.shared.effectivePriority.store(thread.pointee.qos, ordering: .relaxed)
    thread.pointee.is_main = isMainThread
    if isMainThread { state.mainThread.store(UInt(bitPattern: thread), ordering: .relaxed) }
    gc_thread_set_current(thread)
    // On failure (ENOMEM, no keys left) the thread never gives the context back. That loses some
    // memory and nothing else.
    _ = gc_thread_at_exit(thread) { value in
      ThreadRegistry.giveBack(value.assumingMemoryBound(to: gc_thread.self))
    }
    return thread
  }

  private static func giveBack(_ thread: ThreadContext) {
    let handler = state.withLock { state.exitHandler }
    handler?(thread)
    thread.shared.threadID.store(0, ordering: .relaxed)
    // The main thread may end before the process does. The context's next thread is another one.
    // relaxed, here and in the load: the address is compared only.
    if thread.pointee.is_main { state.mainThread.store(0, ordering: .relaxed) }
    // Later destructors that call the engine register the thread again.
    gc_thread_set_current(nil)
    // A thread that ends inside an item, or after an exception has left one, owns its queues for
    // good: the context's address is in their words. A later thread with that address would pass
    // for their owner.
    if !thread.isInside { state.withLock { state.put(thread) } }
  }
}

/// Guarded by its lock, except for the atomic.
final class RegistryState: @unchecked Sendable {
  let mainThread = Atomic<UInt>(0)
  let lock = Lock()
  var exitHandler: (@Sendable (ThreadContext) -> Void)?
  private var free: ThreadContext?

  /// All contexts, linked by `next_known`, the newest first.
  private(set) var known: ThreadContext?

  /// Bypasses the fork gate: the calling thread may have no context yet, and the gate needs one.
  func withLock<Result>(_ body: () -> Result) -> Result {
    lock.lockPlainly()
    defer { lock.unlockPlainly() }
    return body()
  }

  func takeContext() -> ThreadContext {
    if let thread = free {
      free = thread.pointee.next_free
      // Field by field: `shared` is written once for good, because other threads may read it at any
      // time.
      thread.pointee.nodes = nil
      thread.pointee.node_count = 0
      thread.pointee.worker = nil
      thread.pointee.qos = 0
      thread.pointee.effect = 0
      thread.pointee.next_free = nil
      thread.pointee.applied = 0
      thread.pointee.boosted = 0
      thread.pointee.board = nil
      thread.pointee.spins = 0
      gc_items_hide(thread)
      // Its last thread may have left a loop by an exception.
      thread.pointee.in_full_loop = false
      thread.pointee.has_ample_stack = false
      gc_gave_way(thread)
      return thread
    }
    // On cache lines of its own: owner-only fields of two threads must not share one.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
    let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
    thread.initialize(to: gc_thread())
    gc_items_hide(thread)
    thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
    thread.beginFrames()
    thread.pointee.next_known = known
    known = thread
    return thread
  }

  func put(_ thread: ThreadContext) {
    thread.pointee.next_free = free
    free = thread
  }
}
