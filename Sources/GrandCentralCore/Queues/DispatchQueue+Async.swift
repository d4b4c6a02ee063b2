// Room: Queues/DispatchQueue+Async. Submission to a queue that returns at once.
// A call without QoS and flags is recognised in the caller's module, where these are constants.
// From there, one call moves the closure into a node and pushes it. The functions that are called
// from there take the closure as it is: a conversion from @Sendable in the caller's module would
// retain and release the closure's context once more.
import CGrandCentralLinux

extension DispatchQueue {
  /// Submits `work` and returns at once.
  ///
  /// Call from any thread. The work runs on a worker, or on the main thread for the main queue.
  ///
  /// - Parameters:
  ///   - group: a group that is entered now and left when the work has run.
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated. It counts
  ///     where the queue has no QoS of its own. A relative priority outside 0 … -15 stops the
  ///     process.
  ///   - flags: the attributes of the work.
  ///   - work: the closure to submit; runs once.
  /// - Source: `dispatch_async(3)`, `dispatch_group_async(3)`, `dispatch_barrier_async(3)`.
  @preconcurrency @inlinable
  public func async(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: consuming @escaping @Sendable () -> Void
  ) {
    guard qos.qosClass == .unspecified && flags.rawValue == 0 else {
      return asyncInFull(work, group: group, qos: qos, flags: flags)
    }
    if let group { asyncMember(work, of: group) } else { asyncPlain(work) }
  }

  /// Submits `workItem` and returns at once.
  ///
  /// Call from any thread.
  ///
  /// - Parameter workItem: the item; it runs with its own QoS and flags. An item that is
  ///   cancelled before it starts runs nothing.
  /// - Source: `dispatch_async(3)`.
  public func async(execute workItem: DispatchWorkItem) {
    let thread = currentThread()
    submit(.item(workItem, queue: self, on: thread), from: thread)
  }

  /// Submits `workItem` as a member of `group` and returns at once.
  ///
  /// Call from any thread.
  ///
  /// - Parameters:
  ///   - group: a group that is entered now and left when the item has run. A cancelled item
  ///     leaves the group when its turn comes.
  ///   - workItem: the item; it runs with its own QoS and flags.
  /// - Source: `dispatch_group_async(3)`.
  public func async(group: DispatchGroup, execute workItem: DispatchWorkItem) {
    let thread = currentThread()
    submit(.item(workItem, group: group, queue: self, on: thread), from: thread)
  }

  /// Submits `work` as `async(group:qos:flags:execute:)` does, without requiring it to be Sendable.
  ///
  /// Call from any thread. The caller is responsible for running the work on another thread safely.
  ///
  /// - Parameters:
  ///   - group: a group that is entered now and left when the work has run.
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the work.
  ///   - work: the closure to submit; runs once.
  /// - Source: Apple, Dispatch, `DispatchQueue.asyncUnsafe(group:qos:flags:execute:)`.
  public func asyncUnsafe(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: consuming @escaping () -> Void
  ) {
    let thread = currentThread()
    submit(.closure(work, group: group, qos: qos, flags: flags, on: thread), from: thread)
  }

  @usableFromInline
  func asyncPlain(_ work: consuming @escaping @Sendable () -> Void) {
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.putSendableClosure(work)
    node.entry = WorkNode.closureEntry
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    submit(node, from: thread)
  }

  @usableFromInline
  func asyncMember(_ work: consuming @escaping @Sendable () -> Void, of group: DispatchGroup) {
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.putSendableClosure(work)
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    node.join(group)
    submit(node, from: thread)
  }

  @usableFromInline @inline(never)
  func asyncInFull(
    _ work: consuming @escaping @Sendable () -> Void, group: DispatchGroup?, qos: DispatchQoS,
    flags: DispatchWorkItemFlags
  ) {
    let thread = currentThread()
    submit(.closure(work, group: group, qos: qos, flags: flags, on: thread), from: thread)
  }
}
