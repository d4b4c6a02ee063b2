// dispatch/group.h, dispatch/semaphore.h, dispatch/once.h: synchronisation between threads.

/// The result of C's waits: 0 for success, 1 for a timeout.
extension DispatchTimeoutResult {
  var word: Int { self == .success ? 0 : 1 }
}

/// Creates an empty group.
@c(dispatch_group_create)
public func dispatchGroupCreate() -> Handle { newHandle(DispatchGroup()) }

@inline(__always)
private func group(_ handle: Handle?, _ function: StaticString = #function) -> Unmanaged<
  DispatchGroup
> { object(handle, function) }

/// Adds a member to the group.
@c(dispatch_group_enter)
public func dispatchGroupEnter(_ handle: Handle?) {
  group(handle)._withUnsafeGuaranteedRef { $0.enter() }
}

/// Removes a member from the group.
@c(dispatch_group_leave)
public func dispatchGroupLeave(_ handle: Handle?) {
  group(handle)._withUnsafeGuaranteedRef { $0.leaveAtOnce() }
}

/// Waits until the group is empty. Returns 0, or nonzero after the timeout.
@c(dispatch_group_wait)
public func dispatchGroupWait(_ handle: Handle?, _ timeout: UInt64) -> Int {
  group(handle)._withUnsafeGuaranteedRef { $0.wait(word: timeout) }.word
}

/// Submits a block as a member of a group.
@c(dispatch_group_async)
public func dispatchGroupAsync(
  _ handle: Handle?, _ target: Handle?, _ block: UnsafeMutableRawPointer
) {
  group(handle)._withUnsafeGuaranteedRef { group in
    queue(target)._withUnsafeGuaranteedRef {
      let block = Block(block)
      if let item = block.item {
        return $0.async(group: group, execute: item.takeUnretainedValue())
      }
      $0.asyncCall(Block.callAndRelease, block.copied(), group: group)
    }
  }
}

/// Submits a function as a member of a group.
@c(dispatch_group_async_f)
public func dispatchGroupAsyncFunction(
  _ handle: Handle?, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping ClientFunction
) {
  group(handle)._withUnsafeGuaranteedRef { group in
    queue(target)._withUnsafeGuaranteedRef { $0.asyncCall(work, context, group: group) }
  }
}

/// Submits a block when the group becomes empty.
@c(dispatch_group_notify)
public func dispatchGroupNotify(
  _ handle: Handle?, _ target: Handle?, _ block: UnsafeMutableRawPointer
) {
  queue(target)._withUnsafeGuaranteedRef { target in
    withHold(group(handle)) {
      let block = Block(block)
      if let item = block.item {
        return $0.notify(queue: target, work: item.takeUnretainedValue())
      }
      $0.notify(queue: target, Block.callAndRelease, block.copied())
    }
  }
}

/// Submits a function when the group becomes empty.
@c(dispatch_group_notify_f)
public func dispatchGroupNotifyFunction(
  _ handle: Handle?, _ target: Handle?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping ClientFunction
) {
  queue(target)._withUnsafeGuaranteedRef { target in
    withHold(group(handle)) { $0.notify(queue: target, work, context) }
  }
}

// MARK: Semaphores

@inline(__always)
private func semaphore(_ handle: Handle?, _ function: StaticString = #function) -> Unmanaged<
  DispatchSemaphore
> { object(handle, function) }

/// Creates a semaphore; NULL for a negative value.
@c(dispatch_semaphore_create)
public func dispatchSemaphoreCreate(_ value: Int) -> Handle? {
  value < 0 ? nil : newHandle(DispatchSemaphore(value: value))
}

/// Returns a permit; nonzero if a waiting thread got it.
@c(dispatch_semaphore_signal)
public func dispatchSemaphoreSignal(_ handle: Handle?) -> Int {
  semaphore(handle)._withUnsafeGuaranteedRef { $0.signal() }
}

/// Takes a permit. Returns 0, or nonzero after the timeout.
@c(dispatch_semaphore_wait)
public func dispatchSemaphoreWait(_ handle: Handle?, _ timeout: UInt64) -> Int {
  let semaphore = semaphore(handle)
  // The common case, by far: it need not check a deadline, nor the permits before it takes one.
  if timeout != .max { return wait(for: semaphore, until: timeout) }
  return semaphore._withUnsafeGuaranteedRef { $0.waitForPermit() }
}

// A function of its own, so that the common case needs no stack frame.
@inline(never)
private func wait(for semaphore: Unmanaged<DispatchSemaphore>, until timeout: UInt64) -> Int {
  semaphore._withUnsafeGuaranteedRef { $0.wait(word: timeout) }.word
}

// MARK: Once

/// Calls a block once for this word; returns after that call has returned.
@c(dispatch_once)
public func dispatchOnce(_ word: UnsafeMutableRawPointer, _ block: UnsafeMutableRawPointer) {
  runOnce(word, Block.call, block)
}

/// Calls a function once for this word; returns after that call has returned.
@c(dispatch_once_f)
public func dispatchOnceFunction(
  _ word: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer?, _ work: ClientFunction
) {
  runOnce(word, work, context)
}
