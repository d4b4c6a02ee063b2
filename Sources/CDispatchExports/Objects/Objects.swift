// dispatch/object.h: what all objects have in common.
import CDispatchStorage

/// Adds a reference. Any thread.
@c(dispatch_retain)
public func dispatchRetain(_ handle: Handle?) {
  if isNoObject(handle) { return }
  let object: Unmanaged<DispatchObject> = object(handle)
  object._withUnsafeGuaranteedRef { $0.addClientReference(first: { holdFirst(object) }) }
}

/// Drops a reference; with the last one the object ends. Any thread.
@c(dispatch_release)
public func dispatchRelease(_ handle: Handle?) {
  if isNoObject(handle) { return }
  let object: Unmanaged<DispatchObject> = object(handle)
  object._withUnsafeGuaranteedRef { $0.dropClientReference(last: { dropLast(object, of: $0) }) }
}

// Apart, so that who only counts needs no frame.

@inline(never)
private func holdFirst(_ object: Unmanaged<DispatchObject>) {
  object._withUnsafeGuaranteedRef { $0.holdFirst() }
}

@inline(never)
private func dropLast(_ object: Unmanaged<DispatchObject>, of count: UInt32) {
  if object._withUnsafeGuaranteedRef({ $0.dropLast(of: count) }) { return }
  clientFault(
    """
    dispatch_release() of \(describe(object.toOpaque())), to which the program holds no reference. Release an object once for \
    each time that it was made or retained.
    """)
}

/// The program's pointer; NULL at first.
@c(dispatch_get_context)
public func dispatchGetContext(_ object: Handle) -> UnsafeMutableRawPointer? {
  if isWithoutContext(object) { return nil }
  return anyObject(object)._withUnsafeGuaranteedRef { $0.context }
}

/// Sets the program's pointer. Any thread. Objects that are everybody's keep none, but for the main queue.
@c(dispatch_set_context)
public func dispatchSetContext(_ object: Handle, _ context: UnsafeMutableRawPointer?) {
  if isWithoutContext(object) || GlobalQueues.contains(object) { return }
  anyObject(object)._withUnsafeGuaranteedRef { $0.context = context }
}

private func isWithoutContext(_ object: Handle) -> Bool {
  object == gc_data_empty_address() || gc_attribute_number(object) >= 0
}

/// Sets what is called with the context on the target queue when the object has ended; not without a context.
@c(dispatch_set_finalizer_f)
public func dispatchSetFinalizer(_ object: Handle, _ finalizer: ClientFunction?) {
  if isWithoutContext(object) { return }
  anyObject(object)._withUnsafeGuaranteedRef { $0.setFinalizer(finalizer) }
}

/// Starts an inactive object; without effect on others.
@c(dispatch_activate)
public func dispatchActivate(_ object: Handle) {
  withHold(anyObject(object)) { $0.activate() }
}

/// Holds an object's work back. Balanced by dispatch_resume().
@c(dispatch_suspend)
public func dispatchSuspend(_ object: Handle) {
  anyObject(object)._withUnsafeGuaranteedRef { $0.suspend() }
}

/// Takes back one dispatch_suspend(); starts a source that was never active.
@c(dispatch_resume)
public func dispatchResume(_ object: Handle) {
  anyObject(object)._withUnsafeGuaranteedRef { $0.resume() }
}

/// Sets where an object's work runs, and its finalizer; NULL: on a default queue. Does nothing to the main queue and
/// the global ones.
@c(dispatch_set_target_queue)
public func dispatchSetTargetQueue(_ object: Handle, _ target: Handle?) {
  // Where those work that are everybody's is not for one to say.
  if isWithoutContext(object) || object == gc_main_queue_address()
    || GlobalQueues.contains(object)
  {
    return
  }
  let target = target.map { queue($0).takeUnretainedValue() }
  withHold(anyObject(object)) {
    $0.setTarget(queue: target)
    if !($0 is _Lane) { $0.setFinalizerQueue(target) }
  }
}

// MARK: The classes of queues, which say how their work is to be treated

/// Gives a queue or source that was never active a class and a place in it, as if it had been made with them. Without
/// effect on others.
@c(dispatch_set_qos_class)
public func dispatchSetQoSClass(_ object: Handle, _ qosClass: UInt32, _ relativePriority: Int32) {
  setQoS(object, qosClass, relativePriority, isFloor: false)
}

/// Gives a queue or source that was never active the least class that its items run at. Without effect on others.
@c(dispatch_set_qos_class_floor)
public func dispatchSetQoSClassFloor(
  _ object: Handle, _ qosClass: UInt32, _ relativePriority: Int32
) {
  setQoS(object, qosClass, relativePriority, isFloor: true)
}

private func setQoS(
  _ object: Handle, _ qosClass: UInt32, _ relativePriority: Int32, isFloor: Bool
) {
  guard !isWithoutContext(object), let qos = DispatchQoS(c: qosClass, relativePriority) else {
    return
  }
  anyObject(object)._withUnsafeGuaranteedRef { _ = ($0 as? _Lane)?.setQoS(qos, isFloor: isFloor) }
}

/// What items without a class would be taken to have: that is the default class here.
@c(dispatch_set_qos_class_fallback)
public func dispatchSetQoSClassFallback(_ object: Handle, _ qosClass: UInt32) {}
