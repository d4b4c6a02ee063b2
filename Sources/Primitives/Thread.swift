// Room: Primitives/Thread. What one thread knows of itself, and what others may know of it.
// A context is owned by one thread at a time and its memory is never returned, so its address
// identifies a thread in the engine's words even while the thread is ending.
public import CLinux

public typealias ThreadContext = UnsafeMutablePointer<gc_thread>

/// The part of a thread's context that other threads read and write.
// SAFETY: `waitsFor` is guarded by `standingLock`; all else is atomic.
public final class ThreadShared: @unchecked Sendable {
  /// What the thread sleeps on while it waits for one named hand-over: see Parker.
  public let parker = Atomic<UInt32>(0)
  /// Whether what the thread waits for has begun to run on another thread.
  public let isServed = Atomic<Bool>(false)
  /// The queue that the thread works on as a worker, as the address of its object.
  public let workingOn = Atomic<UInt>(0)
  /// Kernel thread id, 0 while no thread owns the context.
  public let threadID = Atomic<UInt32>(0)
  /// What QoS/ThreadEffects in the engine keeps here, and argues there.
  public let effects = ThreadEffectWords()
  /// The class that the thread works at, what others ask of it included, as a raw band: see the engine's
  /// QoS/Standing. Written under the lock.
  public let standing = Atomic<UInt32>(0)
  public let standingLock = Lock()
  /// What the thread sleeps for, and may be raised as well. Guarded by the lock.
  @Cell public var waitsFor: AnyObject? = nil
  init() {}
}

/// The effects of a thread's class, as far as other threads take part in them.
public final class ThreadEffectWords: Sendable {
  /// Guards every change of what the kernel does with the thread on behalf of its class.
  public let lock = Lock()
  /// The class that others raised the thread to; 0: nobody did.
  public let help = Atomic<UInt32>(0)
  /// The thread's own class as others may see it; 0: it is not the pool's now.
  public let own = Atomic<UInt32>(0)
  /// Its nice value in no class, and whether a class may change that.
  public let nice = Atomic<Int32>(0)
  public let mayBeNice = Atomic<Bool>(false)
  init() {}
}

extension UnsafeMutablePointer<gc_thread> {
  /// What other threads may see of this thread.
  public var shared: ThreadShared {
    // SAFETY: set at registration to an object that is never released.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// Whether another thread has raised this one. A hint; the caller is the thread.
  @inlinable @inline(__always)
  public var isHelped: Bool {
    // SAFETY: as above. relaxed: who acts upon it takes the lock.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { $0.effects.help.load(ordering: .relaxed) != 0 }
  }

  /// Calls `body` with the shared part, without counting references.
  @inline(__always)
  func withShared<Result>(_ body: (ThreadShared) -> Result) -> Result {
    // SAFETY: as above.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef(body)
  }

  /// What the thread works at, as a raw band: see the engine's QoS/Standing.
  // relaxed: compared, no more.
  public var standing: UInt32 { withShared { $0.standing.load(ordering: .relaxed) } }

  /// What the thread has said that it works on.
  public var workplace: UInt { withShared { $0.workingOn.load(ordering: .relaxed) } }

  /// Says that the thread begins to work on the queue at `address`. What it said before stays alive
  /// meanwhile.
  @inline(__always)
  public func enterWorkplace(_ address: UInt) {
    // releasing: the object, for a reader that follows the address. It need not be in the single
    // order of Pool/Workplaces: a reader that misses it reads the queue outside, which this thread
    // holds too.
    withShared { $0.workingOn.store(address, ordering: .releasing) }
  }

  /// Says that the thread works on the queue at `address` again, or zero: on none. The one before
  /// may end now.
  @inline(__always)
  public func setWorkplace(_ address: UInt) {
    // sequentiallyConsistent: see Pool/Workplaces in the engine.
    withShared { $0.workingOn.store(address, ordering: .sequentiallyConsistent) }
  }
}
