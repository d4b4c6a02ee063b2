// Room: Queues/Precondition. Checks on which queue code runs.

/// A statement about the queue that the calling code runs on.
///
/// - Source: Apple, Dispatch, `DispatchPredicate`.
public enum DispatchPredicate: Sendable {
  /// The code runs on this queue, or on a queue that targets it, directly or not.
  case onQueue(DispatchQueue)
  /// The code runs on this queue, and nothing else runs on the queue meanwhile.
  case onQueueAsBarrier(DispatchQueue)
  /// The code does not run on this queue.
  case notOnQueue(DispatchQueue)
}

/// Stops the process with a message unless `condition` holds. Checked in release builds too.
///
/// Call from any thread.
///
/// - Parameters:
///   - condition: the queue that the code must, or must not, run on.
///   - file: the file that the message names.
///   - line: the line that the message names.
/// - Source: Apple, Dispatch, `dispatchPrecondition(condition:)`.
@inlinable
public func dispatchPrecondition(
  condition: @autoclosure () -> DispatchPredicate, file: StaticString = #file, line: UInt = #line
) {
  let predicate = condition()
  // The common case, inlined in the caller's module: an item of a serial queue checks that queue.
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
    if let current = Frames.innermost(thread)?.takeUnretainedValue() {
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
  /// Whether nothing else runs on this lane. Each item of a serial lane has it alone; a root has no
  /// barriers.
  fileprivate final func isHeldAsBarrier(by thread: ThreadContext) -> Bool {
    guard isCurrent(on: thread) else { return false }
    // On a concurrent lane that targets a serial lane, still only barriers count.
    return kind == .serial || isHeldAlone(by: thread)
  }
}
