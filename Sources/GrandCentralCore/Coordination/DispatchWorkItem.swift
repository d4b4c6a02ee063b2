// Room: Coordination/DispatchWorkItem. A closure that can be cancelled, waited for and observed.
// The word: WorkItemState.swift. An item may be executed any number of times; what is told to
// waiters and observers is the end of the first execution. `submission` is the queue that the item
// was last submitted to, as a retained reference in a word: whoever takes it out by an exchange
// owns it. The end of an execution drops it, a waiter borrows it.
// Who waits raises what the item waits for: `awaited` says how urgently somebody waits.
//   waiter  awaited = class; is a thread inside (runner)? raise it, else the queue
//   runner  runner = itself; work; runner = what it was; awaited? come back to its own class
// Sequentially consistent, all four: either the waiter finds the runner, or the runner finds that it is
// awaited; and a waiter that comes late finds the runner gone when it looks again under the thread's lock.
import CLinux

/// Work with a handle: submit it, perform it, wait for it, be notified of its end, or cancel it.
///
/// ```swift
/// let item = DispatchWorkItem(qos: .utility) { index(library) }
/// DispatchQueue.global().async(execute: item)
/// item.notify(queue: .main) { showResults() }
/// ```
/// - Source: `dispatch/block.h` of the public reference.
// SAFETY: `notifications` is guarded by `lock`, other shared state is atomic. The block is the
// client's: as with the peer, whoever submits an item answers for what it captures.
public final class DispatchWorkItem: @unchecked Sendable {
  let state = Atomic<UInt32>(0)
  /// The band of the thread that waits, or 0.
  let awaited = Atomic<UInt32>(0)
  /// The thread that performs the item, as its context's address, or 0.
  let runner = Atomic<UInt>(0)
  private let submission = Atomic<UInt>(0)
  let lock = Lock()
  private let explicitQoS: PackedQoS
  @Cell var notifications: [Notification] = []
  let flags: DispatchWorkItemFlags
  private let work: Work

  private enum Work {
    case closure(() -> Void)
    /// A function of a C program, and what it is called with. The item keeps that, and gives it to `release` in the end.
    case function(WorkFunction, UnsafeMutableRawPointer, release: WorkFunction)
  }

  /// Makes a work item; nothing runs yet.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work; by default that of the thread that submits it. A relative
  ///     priority outside 0 … -15 stops the process.
  ///   - flags: what is special about the work.
  ///   - block: the work.
  /// - Source: `dispatch_block_create(3)`.
  public convenience init(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    block: @escaping () -> Void
  ) {
    self.init(qos: qos, flags: flags, work: .closure(block))
  }

  /// An item that calls `function` with `context`, and `release` with it when it will not be called again.
  package convenience init(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, calling function: @escaping WorkFunction,
    with context: UnsafeMutableRawPointer, release: @escaping WorkFunction
  ) {
    self.init(qos: qos, flags: flags, work: .function(function, context, release: release))
  }

  private init(qos: DispatchQoS, flags: DispatchWorkItemFlags, work: Work) {
    var explicit = PackedQoS(qos)
    if flags.contains(.assignCurrentContext) && explicit.band == .unspecified {
      explicit = QoSPropagation.captured(
        from: PackedQoS(rawValue: currentThread().pointee.qos), explicit: explicit, flags: flags)
    }
    self.explicitQoS = explicit
    self.flags = flags
    self.work = work
  }

  deinit {
    takeSubmission()?.release()
    discardNotifications()
    if case .function(_, let context, let release) = work { release(context) }
  }

  /// Runs the work on the calling thread, unless the item is cancelled.
  ///
  /// - Source: `dispatch_block_perform(3)`.
  public func perform() {
    let thread = currentThread()
    let outer = thread.pointee.qos
    thread.pointee.qos =
      QoSPropagation.performed(item: explicitQoS, on: PackedQoS(rawValue: outer)).rawValue
    let own = PackedQoS(rawValue: thread.pointee.qos).place
    if own > PackedQoS(rawValue: outer).place { Lane.settle(thread) }
    performSubmitted(on: thread)
    thread.pointee.qos = outer
    let adopted = thread.pointee.adopted
    if adopted != 0 && adopted != UInt32(PackedQoS(rawValue: outer).place.rawValue) {
      Lane.settle(thread)
    }
  }

  /// From now on, executions end at once. One that has begun goes on.
  ///
  /// Call from any thread. Waiters and observers are told only when an execution is attempted.
  ///
  /// - Source: `dispatch_block_cancel(3)`.
  public func cancel() {
    // relaxed: tells one bit and hands nothing over.
    state.bitwiseOr(WorkItemState.cancelled, ordering: .relaxed)
  }

  /// Whether `cancel()` was called.
  ///
  /// - Source: `dispatch_block_testcancel(3)`.
  public var isCancelled: Bool {
    WorkItemState(rawValue: state.load(ordering: .relaxed)).isCancelled
  }
}

extension DispatchWorkItem {
  /// What a node that carries this item must say, when submitted by `thread`.
  func traits(from thread: ThreadContext) -> WorkTraits {
    let qos = QoSPropagation.captured(
      from: PackedQoS(rawValue: thread.pointee.qos), explicit: explicitQoS, flags: flags)
    return WorkTraits(qos: qos, barrier: flags.contains(.barrier))
  }

  /// Runs the work as an item of a queue: the thread's QoS has been set.
  func performSubmitted(on thread: ThreadContext) {
    if !isCancelled {
      let outer = runner.exchange(UInt(bitPattern: thread), ordering: .sequentiallyConsistent)
      let asked = awaited.load(ordering: .sequentiallyConsistent)
      if asked > thread.pointee.adopted {
        Lane.settle(thread, atLeast: Band(rawValue: UInt8(asked)) ?? .default)
      }
      switch work {
      case .closure(let closure): grandCentralClientCallout(closure)
      case .function(let function, let context, _):
        grandCentralFunctionCallout(function, context)
      }
      runner.store(outer, ordering: .sequentiallyConsistent)
      if awaited.load(ordering: .sequentiallyConsistent) != 0
        // A waiter that has given up meanwhile had raised this thread before it said so.
        || thread.standing != thread.pointee.adopted || Standing.mayBeRaised(thread)
      {
        thread.pointee.lent = 1
        Lane.settle(thread)
      }
    }
    finish(on: thread)
  }

  private func finish(on thread: ThreadContext) {
    takeSubmission()?.release()
    var seen = WorkItemState(rawValue: state.load(ordering: .relaxed))
    while true {
      guard let next = seen.finished() else {
        clientFault(
          """
          A DispatchWorkItem was executed more than once and waited for. Wait for an item that is \
          executed once, or use a DispatchGroup.
          """)
      }
      // releasing: what the work wrote, for the acquiring load of the waiter. Not acquiring: what the
      // notifications hold comes with their lock.
      let (won, now) = state.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { break }
      seen = WorkItemState(rawValue: now)
    }
    if seen.isDone { return }
    if seen.isSleeping { futexWake(state, count: .max) }
    if seen.isNotified { deliverNotifications(on: thread) }
  }

  // MARK: The queue that it was submitted to

  /// Remembers where a waiter has to look. Kept until the end of the execution.
  func recordSubmission(to queue: DispatchQueue) {
    let retained = UInt(bitPattern: Unmanaged.passRetained(queue).toOpaque())
    // releasing, and acquiring in take: the object that the word refers to.
    let before = submission.exchange(retained, ordering: .acquiringAndReleasing)
    Self.queue(before)?.release()
  }

  /// The queue of the last submission whose execution has not ended. The caller releases it.
  func takeSubmission() -> Unmanaged<DispatchQueue>? {
    // relaxed: most items that end were never submitted as objects; the exchange decides.
    if submission.load(ordering: .relaxed) == 0 { return nil }
    return Self.queue(submission.exchange(0, ordering: .acquiring))
  }

  private static func queue(_ word: UInt) -> Unmanaged<DispatchQueue>? {
    // SAFETY: a word other than 0 is a reference that recordSubmission() retained.
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}
