// Room: Queues/DispatchQueue+Sync. sync() and asyncAndWait(): the caller waits for the closure.
// Inlined into the caller's module: on an idle queue one exchange in, the closure, one exchange
// out.
import CGrandCentralLinux

extension DispatchQueue {
  /// Runs a closure on this queue and returns its value.
  ///
  /// The closure runs on the calling thread, except on the main queue and queues that target it:
  /// there it runs on the main thread. The calling thread blocks until its turn comes. On a serial
  /// queue, items submitted before run first.
  ///
  /// - Parameter work: the closure to run.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Important: Called from an item of this queue if it is serial, from a barrier of this queue,
  ///   or where threads would wait for each other in a deadlock cycle, this stops the process with
  ///   a message that names the queues and threads. Called from an ordinary item of this queue if
  ///   it is concurrent, the closure runs at once; only behind a barrier that waits there already,
  ///   it is such a cycle.
  /// - Source: Apple, Dispatch, `DispatchQueue.sync(execute:)`.
  @inlinable @inline(__always)
  public final func sync<T>(execute work: () throws -> T) rethrows -> T {
    try syncAs(syncToken, execute: work)
  }

  /// Runs a closure on this queue as `sync(execute:)` does, with flags.
  ///
  /// Blocks and stops the process as `sync(execute:)` does; a barrier also if an item of this queue
  /// calls it.
  ///
  /// - Parameters:
  ///   - flags: with `.barrier`, on a concurrent queue, the closure waits for all items before it
  ///     and keeps out all items after it. The other flags have no effect here.
  ///   - work: the closure to run.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Source: Apple, Dispatch, `DispatchQueue.sync(flags:execute:)`.
  @inlinable @inline(__always)
  public final func sync<T>(
    flags: DispatchWorkItemFlags, execute work: () throws -> T
  ) rethrows -> T {
    try syncAs(
      flags.contains(.barrier) ? LaneState(rawValue: LaneState.locked) : syncToken, execute: work)
  }

  @inlinable @inline(__always)
  final func syncAs<T>(_ token: LaneState, execute work: () throws -> T) rethrows -> T {
    let thread = currentThread()
    if !enterIdle(thread, as: token) {
      let barrier = token.rawValue == LaneState.locked
      guard enterSlowly(thread, barrier: barrier) else {
        return try runOnMain(thread, barrier: barrier, work, rescue: { throw $0 })
      }
    }
    let outer = thread.enterFrame(of: Unmanaged.passUnretained(self).toOpaque())
    defer {
      thread.leaveFrame(to: outer)
      leave(thread, as: token)
    }
    return try work()
  }

  /// Runs a work item on this queue and returns when it has run.
  ///
  /// Blocks and stops the process as `sync(execute:)` does.
  ///
  /// - Parameter workItem: the item; it runs with its own flags, and at its own QoS if that is more
  ///   urgent than the caller's. A cancelled item does not run.
  /// - Source: Apple, Dispatch, `DispatchQueue.sync(execute:)`.
  public final func sync(execute workItem: DispatchWorkItem) {
    sync(flags: workItem.flags) { workItem.perform() }
  }

  // MARK: asyncAndWait

  /// Runs a closure where this queue's items run, and returns its value.
  ///
  /// On an idle queue it runs on the calling thread, as with `sync`. On a busy queue it runs on the
  /// thread that runs the items before it, so the queue does not move from thread to thread. The
  /// calling thread blocks until the closure returns.
  ///
  /// - Parameter work: the closure to run.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Important: Stops the process in the same cases as `sync(execute:)`.
  /// - Source: Apple, Dispatch, `dispatch_async_and_wait`.
  public final func asyncAndWait<T>(execute work: () throws -> T) rethrows -> T {
    try asyncAndWait(flags: [], execute: work)
  }

  /// Runs a closure as `asyncAndWait(execute:)` does, with flags.
  ///
  /// Blocks and stops the process as `sync(flags:execute:)` does.
  ///
  /// - Parameters:
  ///   - flags: `.barrier` as with `sync(flags:execute:)`; the other flags have no effect here.
  ///   - work: the closure to run.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Source: Apple, Dispatch, `dispatch_async_and_wait`, `dispatch_barrier_async_and_wait`.
  public final func asyncAndWait<T>(
    flags: DispatchWorkItemFlags, execute work: () throws -> T
  ) rethrows -> T {
    let thread = currentThread()
    // An idle queue needs no other thread, unless it is bound to the main thread.
    guard sendsWork(of: thread) else { return try sync(flags: flags, execute: work) }
    failIfHeld(by: thread, exclusive: flags.contains(.barrier))
    return try runRemotely(
      thread, on: self, barrier: flags.contains(.barrier), work, rescue: { throw $0 })
  }

  /// Runs a work item on this queue as `asyncAndWait(execute:)` does.
  ///
  /// - Parameter workItem: the item; it runs with its own flags, and at its own QoS if that is more
  ///   urgent than the caller's. A cancelled item does not run.
  /// - Source: Apple, Dispatch, `dispatch_async_and_wait`.
  public final func asyncAndWait(execute workItem: DispatchWorkItem) {
    asyncAndWait(flags: workItem.flags) { workItem.perform() }
  }

  // MARK: On another thread

  /// Whether asyncAndWait() of `thread` runs its work elsewhere. A thread that is inside would wait
  /// in line for what may wait for it, where sync() enters at once.
  private final func sendsWork(of thread: ThreadContext) -> Bool {
    if kind == .bound { return true }
    return kind != .root && state.load(ordering: .relaxed).hasWorkOrOwner && !isInside(thread)
  }

  /// Runs `work` on the main thread, or where a hosted queue runs its items. enterSlowly() returned
  /// false: the caller holds every lane up to that bound one.
  @usableFromInline @inline(never)
  final func runOnMain<T>(
    _ thread: ThreadContext, barrier: Bool, _ work: () throws -> T,
    rescue: (any Error) throws -> T
  ) rethrows -> T {
    defer { leaveSlowly(thread, barrier: barrier) }
    return try runRemotely(thread, on: boundEnd, barrier: true, work, rescue: rescue)
  }

  /// Sends `work` to `lane` as an item and waits until it has run there.
  private final func runRemotely<T>(
    _ thread: ThreadContext, on lane: Lane, barrier: Bool, _ work: () throws -> T,
    rescue: (any Error) throws -> T
  ) rethrows -> T {
    var result: Swift.Result<T, any Error>?
    withoutActuallyEscaping(work) { work in
      // Before it grants, the other thread has called and released the closure: see RemoteCall.
      let call = RemoteCall(waiter: thread, queue: self) { result = Swift.Result { try work() } }
      let band = call.send(to: lane, from: thread, barrier: barrier)
      lane.awaitGrant(thread, at: band, exclusive: barrier)
      call.body = {}
    }
    switch result.unsafelyUnwrapped {
    case .success(let value): return value
    case .failure(let error): return try rescue(error)
    }
  }
}

extension DispatchQueue {
  /// Runs a closure on this queue, as the generic `sync(execute:)` does.
  ///
  /// Calls prefer the generic method. This one makes `queue.sync(execute:)` a value of type
  /// `(() -> Void) -> Void`, which a function that rethrows cannot be.
  ///
  /// - Parameter work: the closure to run.
  /// - Source: Apple, Dispatch, `DispatchQueue.sync(execute:)`.
  @inlinable @inline(__always) @_disfavoredOverload
  public final func sync(execute work: () -> Void) {
    syncAs(syncToken, execute: work)
  }
}

extension DispatchQueue {
  /// Calls a C function on this queue, as `sync` calls a closure, and returns when it has returned.
  package final func syncCall(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?, isBarrier: Bool
  ) {
    let thread = currentThread()
    let token = isBarrier ? LaneState(rawValue: LaneState.locked) : syncToken
    // relaxed: a guess that enterIdle() re-checks. The word of a lane that targets a lane is never
    // 0, and a lane that another thread holds takes the slow path.
    if state.load(ordering: .relaxed).rawValue == 0, enterIdle(thread, as: token) {
      withFrame(thread) { function(context) }
      leave(thread, as: token)
    } else {
      callSlowly(thread, barrier: token.rawValue == LaneState.locked, function, context)
    }
  }

  /// Calls the function on a global queue, which is never entered, or on a lane that is busy or
  /// whose target is a lane. Skips the exchange that leave() tries first, which seldom succeeds
  /// here.
  @inline(never)
  private final func callSlowly(
    _ thread: ThreadContext, barrier: Bool, _ function: @escaping WorkFunction,
    _ context: UnsafeMutableRawPointer?
  ) {
    if kind == .root { return withFrame(thread) { function(context) } }
    if enterSlowly(thread, barrier: barrier) {
      withFrame(thread) { function(context) }
    } else {
      callRemotely(thread, on: boundEnd, barrier: true, function, context)
    }
    leaveSlowly(thread, barrier: barrier)
  }

  /// Calls a C function on this queue, as `asyncAndWait` calls a closure.
  package final func asyncAndWaitCall(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?, isBarrier: Bool
  ) {
    let thread = currentThread()
    guard sendsWork(of: thread) else {
      return syncCall(function, context, isBarrier: isBarrier)
    }
    failIfHeld(by: thread, exclusive: isBarrier)
    callRemotely(thread, on: self, barrier: isBarrier, function, context)
  }

  @inline(never)
  private final func callRemotely(
    _ thread: ThreadContext, on lane: Lane, barrier: Bool,
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?
  ) {
    let call = RemoteCall(waiter: thread, queue: self) { function(context) }
    // The node refers to the call without a retain, until the grant.
    withExtendedLifetime(call) {
      let band = call.send(to: lane, from: thread, barrier: barrier)
      lane.awaitGrant(thread, at: band, exclusive: barrier)
    }
  }
}

/// A closure that another thread runs while the owner of the call waits.
private final class RemoteCall: @unchecked Sendable {
  private let waiter: ThreadContext
  /// The class that the waiter asks for.
  private let band: Band
  private let queue: Lane
  var body: () -> Void

  init(waiter: ThreadContext, queue: Lane, body: @escaping () -> Void) {
    self.waiter = waiter
    band = EffectivePriority.ofWaiter(waiter)
    self.queue = queue
    self.body = body
  }

  /// Submits the call. Returns the band that the waiting thread asks for.
  func send(to lane: Lane, from thread: ThreadContext, barrier: Bool) -> Band {
    let node = NodeCache.take(thread)
    node.context = Unmanaged.passUnretained(self).toOpaque()
    node.traits = WorkTraits(
      qos: PackedQoS(rawValue: thread.pointee.qos), barrier: barrier
    ).union(.awaited)
    // SAFETY: as in the entry below.
    node.urgencyReader = { context in
      Unmanaged<RemoteCall>.fromOpaque(context)._withUnsafeGuaranteedRef {
        max($0.band, EffectivePriority.of($0.waiter)).rawValue
      }
    }
    node.entry = { raw, thread in
      let node = WorkNode(raw)
      let call = Unmanaged<RemoteCall>.fromOpaque(node.context.unsafelyUnwrapped)
      NodeCache.put(node, thread)
      // SAFETY: the waiter keeps the call until it is granted; run() has released all it took by
      // then.
      let waiter = call._withUnsafeGuaranteedRef { $0.run(on: thread) }
      Parker.grant(waiter)
    }
    // An item that a concurrent lane admits waits only for a CPU, which no other thread can see. So
    // it counts as served: the deadlock walk may miss a cycle through it but reports no false
    // cycle.
    thread.shared.isServed.store(lane.kind == .concurrent && !barrier, ordering: .relaxed)
    Parker.prepare(thread)
    // The class at which the closure runs may be below that of the thread that waits for it.
    guard lane.kind != .root && band > lane.effectiveQoS(node.traits).rank else {
      lane.submit(node, from: thread)
      return band
    }
    // Retained, since a C function may drop the last reference to the lane before it is raised.
    _ = Unmanaged.passRetained(lane)
    lane.submit(node, from: thread)
    lane.waiterPriorityDidRise(to: band, from: thread)
    Unmanaged.passUnretained(lane).release()
    return band
  }

  /// Runs the closure and returns the waiter. Not inlined: every reference to the closure is gone
  /// when this returns.
  @inline(never)
  private func run(on thread: ThreadContext) -> ThreadContext {
    waiter.shared.isServed.store(true, ordering: .relaxed)
    queue.withFrame(thread, as: .visiting) { body() }
    return waiter
  }
}
