// Room: Coordination/DispatchQueue+Async. The ways onto a queue that return at once.
// The plain one, without group, QoS and flags, is told apart in the caller's module, where these
// are constants; from there it is one call that moves the closure into a node and pushes it.
import CLinux

extension DispatchQueue {
  /// Submits `work` and returns at once.
  ///
  /// Call from any thread. The work runs on a worker, or on the main thread for the main queue.
  ///
  /// - Parameters:
  ///   - group: entered now, and left when the work has run.
  ///   - qos: the work's QoS; by default that of the caller, at most user-initiated. Used where the
  ///     queue has none of its own. A relative priority outside 0 … -15 stops the process.
  ///   - flags: what is special about the work.
  ///   - work: runs once.
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
  /// - Parameter workItem: runs with its own QoS and flags, or not at all if it is cancelled
  ///   before.
  /// - Source: `dispatch_async(3)`.
  public func async(execute workItem: DispatchWorkItem) {
    let thread = currentThread()
    submit(.item(workItem, queue: self, on: thread), from: thread)
  }

  /// Submits `workItem` as part of `group` and returns at once.
  ///
  /// - Parameters:
  ///   - group: entered now, and left when the item has run, or was due to run but cancelled.
  ///   - workItem: runs with its own QoS and flags.
  /// - Source: `dispatch_group_async(3)`.
  public func async(group: DispatchGroup, execute workItem: DispatchWorkItem) {
    let thread = currentThread()
    submit(.item(workItem, group: group, queue: self, on: thread), from: thread)
  }

  /// Submits `work` as `async(group:qos:flags:execute:)` does, without the compiler's check that it may
  /// run on another thread. The caller answers for that.
  ///
  /// - Source: Apple, Dispatch, `DispatchQueue.asyncUnsafe(group:qos:flags:execute:)`.
  public func asyncUnsafe(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: consuming @escaping () -> Void
  ) {
    asyncInFull(work, group: group, qos: qos, flags: flags)
  }

  @usableFromInline
  func asyncPlain(_ work: consuming @escaping () -> Void) {
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.putClosure(work)
    node.entry = WorkNode.closureEntry
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    submit(node, from: thread)
  }

  @usableFromInline
  func asyncMember(_ work: consuming @escaping () -> Void, of group: DispatchGroup) {
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.putClosure(work)
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    node.join(group)
    submit(node, from: thread)
  }

  @usableFromInline @inline(never)
  func asyncInFull(
    _ work: consuming @escaping () -> Void, group: DispatchGroup?, qos: DispatchQoS,
    flags: DispatchWorkItemFlags
  ) {
    let thread = currentThread()
    submit(.closure(work, group: group, qos: qos, flags: flags, on: thread), from: thread)
  }
}
