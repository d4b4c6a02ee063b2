// Room: Work/DispatchObject. What every object of the API has in common.

/// The base of queues, groups, semaphores and sources.
///
/// - Source: `dispatch/object.h` of the public reference.
public class DispatchObject {
  /// What a C program has hung on the object, retained, or 0. See Attachment.
  final let attachment = Atomic<UInt>(0)
  /// See ClientReferences.
  final let clientReferences = Atomic<UInt32>(0)

  init() {}

  /// Sets the queue on which this object's work runs in the end.
  ///
  /// On a queue this is an asynchronous barrier: work submitted before still runs under the old
  /// target. On groups and semaphores it has no effect. Call from any thread.
  ///
  /// - Parameter queue: the new target.
  /// - Important: A loop of targets stops the process with a message that names the queues.
  public func setTarget(queue: DispatchQueue) {}

  /// Sets the target queue as `setTarget(queue:)` with a queue does; `nil` stands for the default one.
  public final func setTarget(queue: DispatchQueue?) {
    if let queue { setTarget(queue: queue) } else { resetTarget() }
  }

  func resetTarget() {}

  /// Makes an initially inactive object work. Further calls have no effect.
  public func activate() {}

  /// Prevents further work of this object from starting. Balance each call with `resume()`.
  public func suspend() {}

  /// Takes back one `suspend()`.
  public func resume() {}

  /// Runs a node that was counted as running on this object, and then counts it off. See
  /// `WorkTraits.carried`.
  func runCarried(_ node: WorkNode, on thread: ThreadContext) {
    engineFault("A node is carried by an object that carries none.")
  }
}
