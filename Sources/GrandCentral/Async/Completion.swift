// Purpose: waiting in a task for the end of groups and work items.
public import GrandCentralCore

extension DispatchGroup {
  /// Waits until the group is empty, without blocking a thread.
  ///
  /// Returns at once if the group is empty. Cancelling the task does not end the wait: the group's
  /// work is not part of the task, as with `Task.value`.
  ///
  /// - Source: `dispatch_group_notify(3)`.
  nonisolated(nonsending)
    public func finished() async
  {
    if isEmpty { return }
    let queue = DispatchQueue.ofCurrentTask
    await withUnsafeContinuation { continuation in
      notify(queue: queue) { continuation.resume() }
    }
  }

  private var isEmpty: Bool { wait(timeout: .now()) == .success }
}

extension DispatchWorkItem {
  /// Waits until the item's first execution ends, without blocking a thread.
  ///
  /// Any number of tasks may wait, before or after the execution. An execution of a cancelled item
  /// counts, although it runs nothing; an item that is never executed never ends the wait, and
  /// cancelling the task does not end it either, as with `Task.value`.
  ///
  /// - Source: `dispatch_block_notify(3)`.
  nonisolated(nonsending)
    public func finished() async
  {
    let queue = DispatchQueue.ofCurrentTask
    await withUnsafeContinuation { continuation in
      notify(queue: queue) { continuation.resume() }
    }
  }
}
