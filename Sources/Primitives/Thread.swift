// Room: Primitives/Thread. The context of a thread, and the part of it that other threads may use.
// Invariant: one thread at a time owns a context, and its memory is never freed. So its address
// identifies a thread in the engine's words, even while the thread ends.
public import CGrandCentralLinux

public typealias ThreadContext = UnsafeMutablePointer<gc_thread>

/// Lowers threads that have left a class and stay in a lower one, and raises those that stay in a
/// higher one.
public protocol EffectsWatcher: AnyObject {
  /// Watches the threads whose `isLoweredLater` or `isRaisedLater` is set, the calling one among
  /// them. Returns false if there is no thread that could. Takes no lock of the engine, and does
  /// not wait.
  func watchEffects() -> Bool
}

/// The part of a thread's context that other threads read and write.
// SAFETY: `waitsFor`, `sleepingTask` and the state of effects are guarded by the locks beside them;
// all else is atomic or Sendable.
public final class ThreadShared: @unchecked Sendable {
  /// The word that the thread sleeps on while it waits for a hand-off addressed to it; see Parker.
  public let parker = Atomic<UInt32>(0)
  /// Whether the wait no longer depends on the lane's readers: the thread was admitted, or its
  /// closure has begun on another thread or needs only a CPU.
  public let isServed = Atomic<Bool>(false)
  /// The queue that the thread works on as a worker, as the address of its object.
  public let workingOn = Atomic<UInt>(0)
  /// The kernel's thread id; 0 while no thread owns the context.
  public let threadID = Atomic<UInt32>(0)
  /// The effective priority of the thread, boosts included, as a raw band; see
  /// Priority/EffectivePriority in the engine. Written under the lock.
  public let effectivePriority = Atomic<UInt32>(0)
  public let effectivePriorityLock = Lock()
  /// The object that the thread sleeps for, which is boosted with the thread. Guarded by the lock.
  @Cell public var waitsFor: AnyObject? = nil
  /// The task that sleeps on the thread, in words; see Pool/TaskNames in the engine. Guarded by the
  /// lock.
  @Cell public var sleepingTask: String? = nil
  public let sleepingTaskLock = Lock()

  // The effects of the thread's class: see ThreadPolicy/ThreadEffects in the engine.
  /// Guards every change of the kernel's settings for the thread.
  public let effectsLock = Lock()
  /// The thread's own class, as a raw band; 0 while the thread is not the pool's.
  public let ownClass = Atomic<UInt32>(0)
  /// The class whose settings the thread has: its own, a higher one, or while `isRaisedLater` a
  /// lower one; 0 as above.
  public let classInPlace = Atomic<UInt32>(0)
  /// Whether `classInPlace` is the higher one because the thread has been lowered only now, and
  /// will probably rise soon.
  public let isLoweredLater = Atomic<Bool>(false)
  /// Whether `classInPlace` is a lower one because the thread has risen while it ran.
  public let isRaisedLater = Atomic<Bool>(false)
  /// Whether the thread has run other work since it last slept, beside others that compute, so that
  /// its settings are better raised later. The thread's own.
  @Cell public var mayRiseLater = false
  /// When the thread last left the class in place for a lower one, in monotonic nanoseconds, and
  /// its count of brief stays there: see ThreadPolicy/BriefStays. Guarded by the lock, and so are
  /// the next two.
  @Cell public var leftAt: UInt64 = 0
  @Cell public var briefStays: UInt32 = 0
  /// The class whose timer slack the thread has.
  @Cell public var slackClass: UInt32 = 0
  /// Whether the settings in place include the slice of a prompt thread.
  @Cell public var isPromptInPlace = false
  /// Lowers the thread if it stays low; `nil`: there is no such watcher. Guarded by the lock too.
  /// It outlives the thread's stay with it.
  public unowned(unsafe) var effectsWatcher: (any EffectsWatcher)?
  /// The thread's nice value outside any class, and whether a class may change it.
  public let nice = Atomic<Int32>(0)
  public let mayBeNice = Atomic<Bool>(false)
  /// Whether threads and processes that the thread makes start with the plain slice. It stays until
  /// the thread ends, since clearing it needs privilege. Written under the lock.
  public let resetsOnFork = Atomic<Bool>(false)

  init() {}
}

extension UnsafeMutablePointer<gc_thread> {
  /// The part of the context that other threads may use.
  public var shared: ThreadShared {
    // SAFETY: registration sets it to an object that is never released.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// The class whose settings the thread has, as a raw band; 0 if it is not the pool's. A hint for
  /// other threads, and for the thread itself while others may raise it.
  @inlinable @inline(__always)
  public var classInPlace: UInt32 {
    // SAFETY: as above. relaxed: a thread that acts on it takes the lock.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { $0.classInPlace.load(ordering: .relaxed) }
  }

  /// Calls `body` with the shared part, without counting references.
  @inline(__always)
  func withShared<Result>(_ body: (ThreadShared) -> Result) -> Result {
    // SAFETY: as above.
    Unmanaged<ThreadShared>.fromOpaque(pointee.shared.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef(body)
  }

  /// The effective priority of the thread, as a raw band; see Priority/EffectivePriority in the
  /// engine.
  // relaxed: the value is compared and nothing else is read through it.
  public var effectivePriority: UInt32 {
    withShared { $0.effectivePriority.load(ordering: .relaxed) }
  }

  /// The queue that the thread has announced, as the address of its object.
  public var queueLabel: UInt { withShared { $0.workingOn.load(ordering: .relaxed) } }

  /// Announces that the thread begins to work on the queue at `address`. The queue announced before
  /// must stay alive meanwhile.
  @inline(__always)
  public func enterQueueLabel(_ address: UInt) {
    // releasing: publishes the object to a reader of the address. The store need not be in the
    // single order of Pool/CurrentQueueLabels: a reader that misses it reads the outer queue, which
    // this thread keeps alive too.
    withShared { $0.workingOn.store(address, ordering: .releasing) }
  }

  /// Announces that the thread works on the queue at `address` again, or none if it is 0. The queue
  /// announced before may die after this call.
  @inline(__always)
  public func setCurrentQueueLabel(_ address: UInt) {
    // sequentiallyConsistent: see Pool/CurrentQueueLabels in the engine.
    withShared { $0.workingOn.store(address, ordering: .sequentiallyConsistent) }
  }
}
