// Room: Primitives/ThreadRegistry. Who is calling: a context for each thread that has called the engine.
// Free contexts wait on a list under a lock: taken at a thread's first call into the engine, put back at
// its end.
public import CLinux

/// The calling thread's context.
@inlinable @inline(__always)
public func currentThread() -> ThreadContext {
  if let thread = gc_thread_current() { return thread }
  return ThreadRegistry.registerCurrentThread()
}

@inlinable @inline(__always)
public func spinHint() { gc_spin_hint() }

public enum ThreadRegistry {
  private static let state = RegistryState()

  /// Called with each thread's context when the thread ends, before the context is free.
  public static func setExitHandler(_ handler: @escaping @Sendable (ThreadContext) -> Void) {
    state.withLock { state.exitHandler = handler }
  }

  /// The main thread's context, once it has called the engine.
  public static var mainThread: ThreadContext? {
    ThreadContext(bitPattern: state.mainThread.load(ordering: .relaxed))
  }

  /// Whether the calling thread is the process's first.
  public static var isMainThread: Bool { gc_thread_id() == gc_process_id() }

  @usableFromInline @inline(never)
  static func registerCurrentThread() -> ThreadContext {
    let thread = state.withLock { state.takeContext() }
    thread.pointee.tid = gc_thread_id()
    thread.shared.threadID.store(thread.pointee.tid, ordering: .relaxed)
    // The main thread is user-interactive (5, see QoS/PackedQoS); others have no class of their own.
    thread.pointee.qos = isMainThread ? 5 : 0
    thread.pointee.adopted = thread.pointee.qos
    thread.shared.standing.store(thread.pointee.qos, ordering: .relaxed)
    thread.pointee.is_main = isMainThread
    if isMainThread { state.mainThread.store(UInt(bitPattern: thread), ordering: .relaxed) }
    gc_thread_set_current(thread)
    // A failure (ENOMEM, no keys left) leaves the context with a thread that never gives it back:
    // some memory is lost, nothing else.
    _ = gc_thread_at_exit(thread) { value in
      ThreadRegistry.giveBack(value.assumingMemoryBound(to: gc_thread.self))
    }
    return thread
  }

  // MARK: Around a fork, by ForkGate

  /// All contexts that there are by now, linked by `next_known`.
  static var known: ThreadContext? { state.withLock { state.known } }
  static func lock() { state.lock.lockPlainly() }
  static func unlock() { state.lock.unlockPlainly() }

  /// In the child: `thread` is the only one. The others' contexts are never used again, since what is left of them may
  /// still be named by a thread that one of them waited for.
  static func keepOnly(_ thread: ThreadContext) {
    var next = state.known
    while let other = next {
      next = other.pointee.next_known
      if other == thread { continue }
      other.shared.threadID.store(0, ordering: .relaxed)
      other.shared.workingOn.store(0, ordering: .relaxed)
    }
    thread.pointee.tid = gc_thread_id()
    thread.pointee.is_main = true
    thread.shared.threadID.store(thread.pointee.tid, ordering: .relaxed)
    state.mainThread.store(UInt(bitPattern: thread), ordering: .relaxed)
  }

  private static func giveBack(_ thread: ThreadContext) {
    let handler = state.withLock { state.exitHandler }
    handler?(thread)
    thread.shared.threadID.store(0, ordering: .relaxed)
    // Destructors that run after this one and call the engine register the thread anew.
    gc_thread_set_current(nil)
    state.withLock { state.put(thread) }
  }
}

/// Guarded by its lock, but for the atomic.
private final class RegistryState: @unchecked Sendable {
  let mainThread = Atomic<UInt>(0)
  let lock = Lock()
  var exitHandler: (@Sendable (ThreadContext) -> Void)?
  private var free: ThreadContext?

  /// All contexts, linked by `next_known`, the newest first.
  private(set) var known: ThreadContext?

  /// Not by the gate of forks: a thread comes here before it has a context, by which it would enter.
  func withLock<Result>(_ body: () -> Result) -> Result {
    lock.lockPlainly()
    defer { lock.unlockPlainly() }
    return body()
  }

  func takeContext() -> ThreadContext {
    if let thread = free {
      free = thread.pointee.next_free
      // Field by field: `shared` is written once for all, since others may read it at any time.
      thread.pointee.frame = nil
      thread.pointee.nodes = nil
      thread.pointee.node_count = 0
      thread.pointee.worker = nil
      thread.pointee.qos = 0
      thread.pointee.effect = 0
      thread.pointee.next_free = nil
      thread.pointee.adopted = 0
      thread.pointee.lent = 0
      return thread
    }
    // A cache line of its own: owner-only fields of two threads must not share one.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
    let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
    thread.initialize(to: gc_thread())
    thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
    thread.pointee.next_known = known
    known = thread
    return thread
  }

  func put(_ thread: ThreadContext) {
    thread.pointee.next_free = free
    free = thread
  }
}
