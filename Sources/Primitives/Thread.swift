// Room: Primitives/Thread. What one thread knows of itself, and what others may know of it.
// A context is owned by one thread at a time and its memory is never returned, so its address
// identifies a thread in the engine's words even while the thread is ending.
public import CLinux

public typealias ThreadContext = UnsafeMutablePointer<gc_thread>

/// The part of a thread's context that other threads read and write.
public final class ThreadShared: Sendable {
  /// What the thread sleeps on while it waits for one named hand-over: see Parker.
  public let parker = Atomic<UInt32>(0)
  /// Whether what the thread waits for has begun to run on another thread.
  public let isServed = Atomic<Bool>(false)
  /// The queue that the thread works on as a worker, as the address of its object.
  public let workingOn = Atomic<UInt>(0)
  /// Kernel thread id, 0 while no thread owns the context.
  public let threadID = Atomic<UInt32>(0)
  init() {}
}

extension UnsafeMutablePointer<gc_thread> {
  /// What other threads may see of this thread.
  public var shared: ThreadShared {
    // SAFETY: set at registration to an object that is never released.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// Calls `body` with the shared part, without counting references.
  @inline(__always)
  func withShared<Result>(_ body: (ThreadShared) -> Result) -> Result {
    // SAFETY: as above.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef(body)
  }

  /// What the thread has said that it works on.
  public var workplace: UInt { withShared { $0.workingOn.load(ordering: .relaxed) } }

  /// Says that the thread works on the queue at `address`; zero: on none.
  @inline(__always)
  public func setWorkplace(_ address: UInt) {
    // sequentiallyConsistent: see Pool/Workplaces in the engine.
    withShared { $0.workingOn.store(address, ordering: .sequentiallyConsistent) }
  }
}
