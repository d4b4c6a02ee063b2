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
    state.lock.withLock { state.exitHandler = handler }
  }

  /// The main thread's context, once it has called the engine.
  public static var mainThread: ThreadContext? {
    ThreadContext(bitPattern: state.mainThread.load(ordering: .relaxed))
  }

  /// Whether the calling thread is the process's first.
  public static var isMainThread: Bool { gc_thread_id() == gc_process_id() }

  @usableFromInline @inline(never)
  static func registerCurrentThread() -> ThreadContext {
    let thread = state.lock.withLock { state.takeContext() }
    thread.pointee.tid = gc_thread_id()
    thread.shared.threadID.store(thread.pointee.tid, ordering: .relaxed)
    // The main thread is user-interactive (5, see QoS/PackedQoS); others have no class of their own.
    thread.pointee.qos = isMainThread ? 5 : 0
    if isMainThread { state.mainThread.store(UInt(bitPattern: thread), ordering: .relaxed) }
    gc_thread_set_current(thread)
    // A failure (ENOMEM, no keys left) leaves the context with a thread that never gives it back:
    // some memory is lost, nothing else.
    _ = gc_thread_at_exit(thread) { value in
      ThreadRegistry.giveBack(value.assumingMemoryBound(to: gc_thread.self))
    }
    return thread
  }

  private static func giveBack(_ thread: ThreadContext) {
    let handler = state.lock.withLock { state.exitHandler }
    handler?(thread)
    thread.shared.threadID.store(0, ordering: .relaxed)
    // Destructors that run after this one and call the engine register the thread anew.
    gc_thread_set_current(nil)
    state.lock.withLock { state.put(thread) }
  }
}

/// Guarded by its lock, but for the atomic.
private final class RegistryState: @unchecked Sendable {
  let mainThread = Atomic<UInt>(0)
  let lock = Lock()
  var exitHandler: (@Sendable (ThreadContext) -> Void)?
  private var free: ThreadContext?

  func takeContext() -> ThreadContext {
    if let thread = free {
      free = thread.pointee.next_free
      // Field by field: `shared` is written once for all, since others may read it at any time.
      thread.pointee.frame = nil
      thread.pointee.nodes = nil
      thread.pointee.node_count = 0
      thread.pointee.worker = nil
      thread.pointee.qos = 0
      thread.pointee.next_free = nil
      return thread
    }
    // A cache line of its own: owner-only fields of two threads must not share one.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
    let thread = memory.bindMemory(to: gc_thread.self, capacity: 1)
    thread.initialize(to: gc_thread())
    thread.pointee.shared = Unmanaged.passRetained(ThreadShared()).toOpaque()
    return thread
  }

  func put(_ thread: ThreadContext) {
    thread.pointee.next_free = free
    free = thread
  }
}
