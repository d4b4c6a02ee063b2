// Room: Queues/MainQueue. The serial lane that only the main thread drains.
// Its activation is a bit instead of a node: bit 0 of `signal` is set while there is one. Bit 1 says that the
// main thread is to go round once for another reason, bit 2 that it sleeps, in dispatchMain(), until one of the others is
// set. A run loop asks for a descriptor that becomes readable whenever bit 0 is set.
//   0 ─idle→ asleep ─work, vigil→ asleep and that, wake        any ─drainOnce→ 0
import CLinux

final class MainQueue: DispatchQueue, @unchecked Sendable {
  private static let work: UInt32 = 1
  private static let vigil: UInt32 = 2
  private static let asleep: UInt32 = 4
  private let signal = Atomic<UInt32>(0)
  /// An eventfd for run loops, -1 until one asks.
  private let descriptor = Atomic<Int32>(-1)
  private let descriptorLock = Lock()

  init() {
    super.init(
      root: "com.apple.main-thread", kind: .bound, qos: PackedQoS(band: .userInteractive))
  }

  override func wakeBoundThread() {
    // sequentiallyConsistent: with runLoopDescriptor(): either we see its descriptor, or it sees the bit.
    // A read-modify-write, so that it passes on what lookAround() released.
    let before = signal.bitwiseOr(Self.work, ordering: .sequentiallyConsistent).oldValue
    let descriptor = descriptor.load(ordering: .sequentiallyConsistent)
    if descriptor >= 0 { Doorbell.ring(descriptor) }
    if before & Self.asleep != 0 { futexWake(signal) }
  }

  /// Runs what is queued now; what these items add waits for the next call. Main thread only; called
  /// from an item of the main queue it does nothing. Returns whether anything ran.
  @discardableResult
  func drainOnce() -> Bool {
    let thread = currentThread()
    guard !Frames(thread: thread).contains(where: { $0 === self }),
      // acquiring: pairs with lookAround(). What wakeBoundThread() tells of comes with the lane's own word.
      signal.exchange(0, ordering: .acquiring) & Self.work != 0
    else { return false }
    if drain(on: thread, atMost: queuedForOwner()) { Unmanaged.passUnretained(self).release() }
    return true
  }

  func drainForEver() -> Never {
    var patience = Patience()
    while true {
      while drainOnce() {}
      // relaxed: drainOnce() looks once more.
      if patience.looksOn,
        patience.lookOn({ signal.load(ordering: .relaxed) != 0 ? () : nil }) != nil
      {
        continue
      }
      let begin = Clock.monotonicNanoseconds()
      grandCentralMainIdle()
      patience.slept(nanoseconds: Clock.monotonicNanoseconds() - begin)
    }
  }

  /// Ends the main thread's sleep in dispatchMain(), from which it goes back to one that keeps the vigil
  /// which has just begun. Any thread.
  func lookAround() {
    // releasing: pairs with the exchange in drainOnce(), after which the vigil is seen. The change of the
    // word also stops a sleep that is about to begin. A change even where there is work and the main thread
    // must be awake: a look alone would order nothing, and it might go to sleep without having seen the vigil.
    let before = signal.bitwiseOr(Self.vigil, ordering: .releasing).oldValue
    if before & Self.asleep != 0 { futexWake(signal) }
  }

  /// In a child that was forked: nothing is queued. The descriptor is the parent's too, and what is read there is lost to
  /// it; so its number comes to stand for another one, and whoever has it keeps it.
  func afterFork() {
    signal.store(0, ordering: .relaxed)
    let inherited = descriptor.load(ordering: .relaxed)
    if inherited < 0 { return }
    let own = Doorbell.make()
    if own >= 0 {
      gc_descriptor_move(own, inherited)
    } else {
      close(inherited)
      descriptor.store(-1, ordering: .relaxed)
    }
  }

  /// Not inlined: this frame in a backtrace says that the main thread has nothing to do.
  @inline(never)
  func grandCentralMainIdle() {
    // relaxed: nothing is read by this. Not 0: it has been called, or slept for no reason and goes round.
    let (sleeps, _) = signal.compareExchange(expected: 0, desired: Self.asleep, ordering: .relaxed)
    if sleeps { _ = futexWait(signal, while: Self.asleep) }
  }

  /// A non-blocking eventfd(2) that becomes readable when work comes to the main queue; the same one at
  /// each call. Throws an errno.
  func runLoopDescriptor() throws(SystemError) -> Int32 {
    descriptorLock.lock()
    defer { descriptorLock.unlock() }
    let existing = descriptor.load(ordering: .relaxed)
    if existing >= 0 { return existing }
    let made = Doorbell.make()
    guard made >= 0 else { throw SystemError(number: errno) }
    descriptor.store(made, ordering: .sequentiallyConsistent)
    if signal.load(ordering: .sequentiallyConsistent) & Self.work != 0 { Doorbell.ring(made) }
    return made
  }
}

/// Runs the main queue on the main thread, for ever.
///
/// Call it as the last thing in a program without a run loop. It never returns; end the process with
/// `exit`.
///
/// - Important: Called on another thread, or from an item of the main queue, it stops the process with a
///   message.
/// - Source: Apple, Dispatch, `dispatchMain()`.
public func dispatchMain() -> Never {
  require(
    ThreadRegistry.isMainThread,
    "dispatchMain() was called off the main thread. Call it at the end of the program's main function."
  )
  require(
    !Frames(thread: currentThread()).contains { $0 === Runtime.shared.main },
    "dispatchMain() was called from an item of the main queue, which it would never return to.")
  Runtime.shared.main.drainForEver()
}

/// The door for run loops. Not for programs.
@_spi(RunLoop)
public enum MainQueueRunLoop {
  /// See `MainQueue.runLoopDescriptor()`; -1 when the kernel refuses one, with errno set.
  public static func descriptor() -> Int32 {
    do { return try Runtime.shared.main.runLoopDescriptor() } catch {
      errno = error.number
      return -1
    }
  }

  /// Runs what is queued on the main queue now. Main thread only.
  public static func drain() {
    require(
      ThreadRegistry.isMainThread, "The main queue can be drained on the main thread only.")
    Runtime.shared.main.drainOnce()
  }
}
