// Room: Work/DispatchObject. The base class of all objects of the API.

/// The base class of queues, groups, semaphores, sources and I/O channels.
///
/// - Source: Apple, Dispatch, `DispatchObject`.
public class DispatchObject {
  /// The retained `Attachment` of a C program, or 0.
  final let attachment = Atomic<UInt>(0)
  /// The number of references that C programs hold: see ClientReferences.
  final let clientReferences = Atomic<UInt32>(0)

  init() {}

  /// Sets the queue on which the work of this object finally runs.
  ///
  /// On a queue or a source this is an asynchronous barrier: work submitted earlier still runs
  /// under the old target. On groups and semaphores it has no effect. Traps on the main queue, a
  /// global queue, and a cycle of targets; the message names the queues. Any thread may call it.
  ///
  /// - Parameter queue: The new target.
  /// - Source: Apple, Dispatch, `DispatchObject.setTarget(queue:)`.
  public func setTarget(queue: DispatchQueue) {}

  /// Sets the queue on which the work of this object finally runs, or resets it to the default.
  ///
  /// Traps as `setTarget(queue:)` with a queue does. Any thread may call it.
  ///
  /// - Parameter queue: The new target; `nil` selects the default target of the object.
  /// - Source: Apple, Dispatch, `dispatch_set_target_queue`.
  public final func setTarget(queue: DispatchQueue?) {
    if let queue { setTarget(queue: queue) } else { resetTarget() }
  }

  func resetTarget() {}

  /// Starts an initially inactive object. Further calls have no effect. Call it from any thread.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.activate()`.
  public func activate() {}

  /// Prevents further work of this object from starting.
  ///
  /// Running work continues. Balance each call with `resume()`. Traps if the count of suspensions
  /// overflows. No effect on the main queue and on global queues. Call it from any thread.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.suspend()`.
  public func suspend() {}

  /// Takes back one `suspend()`.
  ///
  /// Work starts again when every `suspend()` is taken back. On a source that was never active it
  /// is the activation. Traps without a matching `suspend()`. No effect on the main queue and on
  /// global queues. Call it from any thread.
  ///
  /// - Source: Apple, Dispatch, `DispatchObject.resume()`.
  public func resume() {}

  /// Runs a node that counts as running on this object, then stops counting it. See
  /// `WorkTraits.carried`.
  func runCarried(_ node: WorkNode, on thread: ThreadContext) {
    engineFault("A node is carried by an object that carries none.")
  }
}
