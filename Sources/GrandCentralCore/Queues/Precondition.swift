// Room: Queues/Precondition. Says where code must, or must not, run.

/// A statement about the queue that the calling code is on.
///
/// - Source: Apple, Dispatch, `DispatchPredicate`.
public enum DispatchPredicate: Sendable {
  /// On this queue, or on one whose work ends up on it.
  case onQueue(DispatchQueue)
  /// On this queue, and nothing else runs on it meanwhile.
  case onQueueAsBarrier(DispatchQueue)
  /// Not on this queue.
  case notOnQueue(DispatchQueue)
}

/// Stops the process with a message unless `condition` holds. Checked in release builds too.
///
/// - Source: Apple, Dispatch, `dispatchPrecondition(condition:)`.
@inlinable
public func dispatchPrecondition(
  condition: @autoclosure () -> DispatchPredicate, file: StaticString = #file, line: UInt = #line
) {
  let predicate = condition()
  // The common case, in the caller's module: an item of a serial queue asks for that queue.
  if case .onQueue(let queue) = predicate, queue.isOwned(by: currentThread()) { return }
  predicate.check(file: file, line: line)
}

extension DispatchPredicate {
  @usableFromInline @inline(never)
  func check(file: StaticString, line: UInt) {
    let thread = currentThread()
    let wish: String
    switch self {
    case .onQueue(let queue):
      if queue.isCurrent(on: thread) { return }
      wish = "on queue '\(queue.label)'"
    case .onQueueAsBarrier(let queue):
      if queue.isHeldAsBarrier(by: thread) { return }
      wish = "on queue '\(queue.label)' as a barrier"
    case .notOnQueue(let queue):
      if !queue.isCurrent(on: thread) { return }
      wish = "not on queue '\(queue.label)'"
    }
    failPrecondition(wish, on: thread, file: file, line: line)
  }
}

@inline(never)
private func failPrecondition(
  _ wish: String, on thread: ThreadContext, file: StaticString, line: UInt
) -> Never {
  let place =
    if let current = Frames.innermost(thread) {
      "on queue '\(current.laneLabel)'"
    } else if Runtime.shared.main.isBoundTo(thread) {
      "on the main thread, outside every other queue"
    } else {
      "on no queue"
    }
  clientFault(
    "dispatchPrecondition failed at \(file):\(line): expected to run \(wish), but runs \(place).")
}

extension Lane {
  /// A serial lane's items all have it to themselves; a root has no barriers.
  fileprivate final func isHeldAsBarrier(by thread: ThreadContext) -> Bool {
    guard isCurrent(on: thread) else { return false }
    // A concurrent lane that ends in a serial one still calls only its barriers so.
    return kind == .serial || isHeldAlone(by: thread)
  }
}
