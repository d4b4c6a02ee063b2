// dispatch/queue.h: asynchronous submission. A block is copied into the item's node as a function
// with the block as its context; nothing else is allocated.

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
  queue(target)._withUnsafeGuaranteedRef { $0.asyncAfterCall(word: when, work, context) }
}

/// Submits a job of a Swift Concurrency executor: an object whose class says how to run it.
@c(dispatch_async_swift_job)
public func dispatchAsyncSwiftJob(
  _ target: Handle?, _ job: UnsafeMutableRawPointer, _ qosClass: UInt32
) {
  queue(target)._withUnsafeGuaranteedRef {
    $0.asyncJob(job, priority: UInt8(truncatingIfNeeded: qosClass), runSwiftJob)
  }
}

private var runSwiftJob: DispatchQueue.JobFunction {
  { job, _ in
    typealias Invoke = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer?, UInt32) -> Void
    // SAFETY: the layout of the runtime's jobs: a job starts with its class, which has the function
    // at offset 24.
    let metadata = job.load(as: UnsafeRawPointer.self)
    metadata.load(fromByteOffset: 24, as: Invoke.self)(job, nil, 0)
  }
}
