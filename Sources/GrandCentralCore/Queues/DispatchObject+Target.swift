// Room: Queues/DispatchObject+Target. The target queue of an object, and the queue of its
// finalizer.

extension DispatchObject {
  /// Sets the queue on which the work of this object finally runs.
  ///
  /// On a queue or a source this is an asynchronous barrier: work submitted earlier still runs
  /// under the old target. On a `DispatchIO` it sets the class at which later barriers run: that of
  /// the target. On groups and semaphores it has no effect. Traps on the main queue, a global
  /// queue, and a cycle of targets; the message names the queues. Any thread may call it.
  ///
  /// - Parameter queue: The new target.
  /// - Source: Apple, Dispatch, `DispatchObject.setTarget(queue:)`.
  public final func setTarget(queue: DispatchQueue) { changeTarget(to: queue) }

  /// Sets the queue on which the work of this object finally runs, or resets it to the default.
  ///
  /// Traps as `setTarget(queue:)` with a queue does. Any thread may call it.
  ///
  /// - Parameter queue: The new target; `nil` selects the default target of the object.
  /// - Source: Apple, Dispatch, `dispatch_set_target_queue`.
  public final func setTarget(queue: DispatchQueue?) {
    changeTarget(to: queue)
  }

  /// Sets the queue that runs the finalizer of an object without a queue of its own.
  package final func setFinalizerQueue(_ queue: DispatchQueue?) {
    attachTarget(queue ?? Runtime.shared.root(.default))
  }

  /// Sets the function that is called with the context when the object has ended: on the target
  /// queue, or on the default global queue if the object has none. It is not called without a
  /// context. Any thread.
  package final func setClientFinalizer(_ finalizer: WorkFunction?) {
    if !(self is Lane) { attachFirstTarget(Runtime.shared.root(.default)) }
    setFinalizer(finalizer)
  }
}
