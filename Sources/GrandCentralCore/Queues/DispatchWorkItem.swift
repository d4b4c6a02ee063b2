// Room: Queues/DispatchWorkItem. A closure that can be cancelled, waited for and observed.
// The state word: WorkItemState.swift. An item may be executed any number of times; waiters and
// observers are notified of the end of the first execution.
// `submission` holds the queue of the last submission, retained. A thread that takes the reference
// out of the word by an exchange owns it. A waiter borrows it; the end of an execution drops it.
// A waiter raises what it waits for; `awaited` is the waiter's band:
//   waiter  awaited = band; if a thread runs the item (`runner`), raise it, else raise the queue
//   runner  runner = itself; work; runner = previous runner; if awaited, return to its own class
// All four accesses are sequentially consistent: either the waiter sees the runner, or the runner
// sees `awaited`. A late waiter re-checks `runner` under the thread's lock and finds the runner
// gone.
import CGrandCentralLinux

/// A unit of work that can be submitted, performed, waited for, observed and cancelled.
///
/// ```swift
/// let item = DispatchWorkItem(qos: .utility) { index(library) }
/// DispatchQueue.global().async(execute: item)
/// item.notify(queue: .main) { showResults() }
/// ```
/// - Source: `dispatch/block.h` of the public reference.
// SAFETY: `lock` guards `notifications`; all other shared state is atomic. The block need not be
// Sendable, as in Apple's Dispatch: the submitter is responsible for what it captures.
public final class DispatchWorkItem: @unchecked Sendable {
  let state = Atomic<WorkItemState>(WorkItemState(rawValue: 0))
  /// The band of the waiting thread, or 0.
  let awaited = Atomic<UInt32>(0)
  /// The address of the context of the thread that performs the item, or 0.
  let runner = Atomic<UInt>(0)
  private let submission = Atomic<UInt>(0)
  let lock = Lock()
  private let explicitQoS: PackedQoS
  @Cell var notifications: [Notification] = []
  let flags: DispatchWorkItemFlags
  private let work: Work
  /// The block of a C program that this item belongs to; set before other threads know the item.
  @Cell private var block: BlockReference?

  private struct BlockReference {
    let literal: UnsafeMutableRawPointer
    let retain, release: WorkFunction
  }

  private enum Work {
    case closure(() -> Void)
    /// A function of a C program and its context. The item owns the context; its deinit passes it
    /// to `release`.
    case function(WorkFunction, UnsafeMutableRawPointer, release: WorkFunction)
  }

  /// Creates a work item; nothing runs yet.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work; by default that of the submitting thread. A relative priority
  ///     outside 0 … -15 stops the process.
  ///   - flags: the attributes of the work.
  ///   - block: the work.
  /// - Source: `dispatch_block_create(3)`.
  public convenience init(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    block: @escaping () -> Void
  ) {
    self.init(qos: qos, flags: flags, work: .closure(block))
  }

  /// Creates an item that calls `function` with `context`. The item's deinit calls `release` with
  /// it.
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

  /// Runs the work on the calling thread and returns when it ends. A cancelled item runs nothing.
  ///
  /// The work runs at the item's QoS if that is more urgent than the thread's. Executing an item
  /// more than once stops the process if a thread has waited for it.
  ///
  /// - Source: `dispatch_block_perform(3)`.
  public func perform() {
    let thread = currentThread()
    let outer = thread.pointee.qos
    thread.pointee.qos =
      QoSPropagation.performed(item: explicitQoS, on: PackedQoS(rawValue: outer)).rawValue
    let own = PackedQoS(rawValue: thread.pointee.qos).rank
    if own > PackedQoS(rawValue: outer).rank { Lane.reapplyPriority(thread) }
    performSubmitted(on: thread)
    thread.pointee.qos = outer
    let adopted = thread.pointee.applied
    if adopted != 0 && adopted != UInt32(PackedQoS(rawValue: outer).rank.rawValue) {
      Lane.reapplyPriority(thread)
    }
  }

  /// Cancels the item: later executions run nothing. An execution that has begun continues.
  ///
  /// Call from any thread. Waiters and observers are notified only when an execution is attempted.
  ///
  /// - Source: `dispatch_block_cancel(3)`.
  public func cancel() {
    // relaxed: sets one bit and publishes nothing else.
    state.transition(.relaxed, to: { $0.cancelled() })
  }

  /// Whether `cancel()` was called.
  ///
  /// - Source: `dispatch_block_testcancel(3)`.
  public var isCancelled: Bool {
    state.load(ordering: .relaxed).isCancelled
  }
}

// MARK: References of submissions

extension DispatchWorkItem {
  /// Makes the item part of a C program's block, which holds it. `retain` and `release` change the
  /// block's count. Call before any other thread knows the item.
  package func join(
    block literal: UnsafeMutableRawPointer, retain: @escaping WorkFunction,
    release: @escaping WorkFunction
  ) {
    block = BlockReference(literal: literal, retain: retain, release: release)
  }

  /// Returns a reference for a node or a handler, to end with `releaseSubmitted`. An item of a
  /// block retains the block instead: the block's code may use the block, for example to test
  /// whether it is cancelled, after the program has released it. The caller holds the block.
  func retainSubmitted() -> Unmanaged<DispatchWorkItem> {
    guard let block else { return .passRetained(self) }
    block.retain(block.literal)
    return .passUnretained(self)
  }

  static func releaseSubmitted(_ item: Unmanaged<DispatchWorkItem>) {
    // SAFETY: the caller's reference.
    guard let block = item._withUnsafeGuaranteedRef({ $0.block }) else { return item.release() }
    block.release(block.literal)
  }
}

extension DispatchWorkItem {
  /// The traits of a node that carries this item and is submitted by `thread`.
  func traits(from thread: ThreadContext) -> WorkTraits {
    let qos = QoSPropagation.captured(
      from: PackedQoS(rawValue: thread.pointee.qos), explicit: explicitQoS, flags: flags)
    return WorkTraits(qos: qos, barrier: flags.contains(.barrier))
  }

  /// The code that the item runs, for a recording.
  var clientCode: ClientCode {
    switch work {
    case .closure(let closure): ClientCode(address: HeldClosure(work: closure).code)
    case .function(let function, let context, _):
      if block != nil {
        WorkNode.code(ofBlock: context)
      } else {
        WorkNode.code(behind: unsafeBitCast(function, to: UInt.self), context)
      }
    }
  }

  /// Runs the work as an item of a queue; the caller has set the thread's QoS.
  func performSubmitted(on thread: ThreadContext) {
    if !isCancelled {
      let outer = runner.exchange(UInt(bitPattern: thread), ordering: .sequentiallyConsistent)
      let asked = awaited.load(ordering: .sequentiallyConsistent)
      if asked > thread.pointee.applied {
        Lane.reapplyPriority(thread, atLeast: Band(rawValue: UInt8(asked)) ?? .default)
      }
      switch work {
      case .closure(let closure): grandCentralClientCallout(closure)
      case .function(let function, let context, _):
        grandCentralFunctionCallout(function, context)
      }
      runner.store(outer, ordering: .sequentiallyConsistent)
      if awaited.load(ordering: .sequentiallyConsistent) != 0
        // A waiter that timed out raised this thread before it cleared `awaited`.
        || thread.effectivePriority != thread.pointee.applied
        || EffectivePriority.mayBeRaised(thread)
      {
        thread.pointee.boosted = 1
        Lane.reapplyPriority(thread)
      }
    }
    finish(on: thread)
  }

  private func finish(on thread: ThreadContext) {
    takeSubmission()?.release()
    // The program may release the item as soon as it sees it done. So one with notifications, which
    // come after the exchange, is held until they are submitted.
    var isKept = false
    defer { if isKept { Unmanaged.passUnretained(self).release() } }
    // releasing: publishes what the work wrote to the waiter's acquiring load. Not acquiring: the
    // lock publishes what the notifications hold.
    let before = state.transition(.releasing) { seen in
      if seen.isNotified && !isKept {
        _ = Unmanaged.passRetained(self)
        isKept = true
      }
      return seen.finished().map { ($0, seen) }
    }
    guard let before else {
      clientFault(
        """
        A DispatchWorkItem was executed more than once and waited for. Wait for an item that is \
        executed once, or use a DispatchGroup.
        """)
    }
    if before.isDone { return }
    // In this order: the woken thread need not deliver then.
    let submitted = before.isNotified ? deliverNotifications(on: thread) : nil
    if before.isSleeping { futexWake(state, count: .max) }
    if let submitted { Self.release(submitted) }
  }

  // MARK: The queue of the last submission

  /// Records where a waiter finds the item, until the execution ends.
  func recordSubmission(to queue: DispatchQueue) {
    let retained = UInt(bitPattern: Unmanaged.passRetained(queue).toOpaque())
    // releasing: publishes the queue to takeSubmission(). acquiring: the previous queue,
    // released here.
    let before = submission.exchange(retained, ordering: .acquiringAndReleasing)
    Self.queue(before)?.release()
  }

  /// Records again what takeSubmission() took, unless the item has been submitted since: a waiter
  /// must find the queue of the last submission.
  func restoreSubmission(to queue: DispatchQueue) {
    let retained = Unmanaged.passRetained(queue)
    // releasing: publishes the queue to takeSubmission(). Failure relaxed: the value is not used.
    let (won, _) = submission.compareExchange(
      expected: 0, desired: UInt(bitPattern: retained.toOpaque()), successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !won { retained.release() }
  }

  /// Takes the queue of the last submission whose execution has not ended. The caller releases it.
  func takeSubmission() -> Unmanaged<DispatchQueue>? {
    // relaxed: most items were never submitted as objects; the exchange below takes the reference.
    if submission.load(ordering: .relaxed) == 0 { return nil }
    return Self.queue(submission.exchange(0, ordering: .acquiring))
  }

  private static func queue(_ word: UInt) -> Unmanaged<DispatchQueue>? {
    // SAFETY: a word other than 0 is a reference that recordSubmission() retained.
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}
