// dispatch/queue.h: asynchronous submission. A block is copied into the item's node as a function
// with the block as its context; nothing else is allocated.
import CGrandCentralLinux

/// Submits a block. Any thread.
@c(dispatch_async)
public func dispatchAsync(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  queue(target)._withUnsafeGuaranteedRef {
    let block = Block(block)
    if let item = block.item { return $0.async(execute: item.takeUnretainedValue()) }
    $0.asyncCall(Block.callAndRelease, block.copied())
  }
}

/// Submits a function. Any thread.
@c(dispatch_async_f)
public func dispatchAsyncFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  // A call of its own, so that the common case saves no registers.
  if gc_may_be_job(address(of: work)) { return SwiftJobs.submitPossibleJob(target, context, work) }
  queue(target)._withUnsafeGuaranteedRef { $0.asyncCall(work, context) }
}

/// Submits a barrier block.
@c(dispatch_barrier_async)
public func dispatchBarrierAsync(_ target: Handle?, _ block: UnsafeMutableRawPointer) {
  queue(target)._withUnsafeGuaranteedRef {
    let block = Block(block)
    if let item = block.item {
      return $0.async(execute: item.takeUnretainedValue(), isBarrier: true)
    }
    $0.asyncCall(Block.callAndRelease, block.copied(), isBarrier: true)
  }
}

/// Submits a barrier function.
@c(dispatch_barrier_async_f)
public func dispatchBarrierAsyncFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  queue(target)._withUnsafeGuaranteedRef { $0.asyncCall(work, context, isBarrier: true) }
}

/// Submits a function that keeps the caller's class, whatever the queue's class.
@c(dispatch_async_enforce_qos_class_f)
public func dispatchAsyncEnforceQoSClassFunction(
  _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
) {
  queue(target)._withUnsafeGuaranteedRef {
    $0.asyncCall(qos: .unspecified, flags: .enforceQoS, work, context)
  }
}

/// Submits a block at a point in time.
@c(dispatch_after)
public func dispatchAfter(_ when: UInt64, _ target: Handle?, _ block: UnsafeMutableRawPointer) {
  // Never: a block that is not called is not retained either.
  if when == .max { return }
  queue(target)._withUnsafeGuaranteedRef {
    let block = Block(block)
    if let item = block.item {
      return $0.asyncAfter(word: when, execute: item.takeUnretainedValue())
    }
    $0.asyncAfterCall(word: when, Block.callAndRelease, block.copied())
  }
}

/// Submits a function at a point in time.
@c(dispatch_after_f)
public func dispatchAfterFunction(
  _ when: UInt64, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping ClientFunction
) {
  var qos = DispatchQoS.unspecified
  if let context, SwiftJobs.isDelayedJob(work) { qos = SwiftJobs.qos(of: context) }
  queue(target)._withUnsafeGuaranteedRef {
    $0.asyncAfterCall(word: when, qos: qos, work, context)
  }
}
