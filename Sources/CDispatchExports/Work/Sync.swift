// dispatch/queue.h: running work on a queue and waiting for it. A block is not copied, because it
// outlives the call.
import CGrandCentralLinux

/// Runs a block on a queue; waits until it has run.
@c(dispatch_sync)
public func dispatchSync(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  queue(target)._withUnsafeGuaranteedRef {
    if let item = Block(block).item { return $0.sync(execute: item.takeUnretainedValue()) }
    $0.syncCall(Block.call, block, isBarrier: false)
  }
}

/// Runs a function on a queue; waits until it has run.
@c(dispatch_sync_f)
public func dispatchSyncFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  queue(target)._withUnsafeGuaranteedRef { $0.syncCall(work, context, isBarrier: false) }
}

/// Runs a barrier block; waits until it has run.
@c(dispatch_barrier_sync)
public func dispatchBarrierSync(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  queue(target)._withUnsafeGuaranteedRef { $0.syncCall(Block.call, block, isBarrier: true) }
}

/// Runs a barrier function; waits until it has run.
@c(dispatch_barrier_sync_f)
public func dispatchBarrierSyncFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  queue(target)._withUnsafeGuaranteedRef { $0.syncCall(work, context, isBarrier: true) }
}

/// Runs a block on the thread that drains the queue; waits until it has run.
@c(dispatch_async_and_wait)
public func dispatchAsyncAndWait(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  guard let item = Block(block).item, !gc_is_watched_for_races() else {
    return dispatchAsyncAndWaitFunction(target, block, Block.call)
  }
  queue(target)._withUnsafeGuaranteedRef { $0.asyncAndWait(execute: item.takeUnretainedValue()) }
}

/// Runs a function on the thread that drains the queue; waits until it has run.
@c(dispatch_async_and_wait_f)
public func dispatchAsyncAndWaitFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  let queue = queue(target)
  Races.ordered(on: target, isBarrier: false, work, context) { work, context in
    queue._withUnsafeGuaranteedRef { $0.asyncAndWaitCall(work, context, isBarrier: false) }
  }
}

/// Runs a barrier block on the thread that drains the queue; waits until it has run.
@c(dispatch_barrier_async_and_wait)
public func dispatchBarrierAsyncAndWait(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  dispatchBarrierAsyncAndWaitFunction(target, block, Block.call)
}

/// Runs a barrier function on the thread that drains the queue; waits until it has run.
@c(dispatch_barrier_async_and_wait_f)
public func dispatchBarrierAsyncAndWaitFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  let queue = queue(target)
  Races.ordered(on: target, isBarrier: true, work, context) { work, context in
    queue._withUnsafeGuaranteedRef { $0.asyncAndWaitCall(work, context, isBarrier: true) }
  }
}

// MARK: Loops

/// Calls a block for each number below `iterations`; waits until all calls have returned.
@c(dispatch_apply)
public func dispatchApply(
  _ iterations: Int, _ target: Handle?, _ block: UnsafeMutableRawPointer
) {
  dispatchApplyFunction(iterations, target, block) { literal, index in
    typealias Invoke = @convention(c) (UnsafeMutableRawPointer, Int) -> Void
    let block = Block(literal.unsafelyUnwrapped)
    block.invoke(as: Invoke.self)(block.literal, index)
  }
}

/// Calls a function for each number below `iterations`; for NULL on the default global queue.
@c(dispatch_apply_f)
public func dispatchApplyFunction(
  _ iterations: Int, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @convention(c) (UnsafeMutableRawPointer?, Int) -> Void
) {
  // The count is unsigned in C; no program reaches half its range.
  if iterations <= 0 { return }
  queueOrDefault(target).applyCall(iterations: iterations, work, context)
}
