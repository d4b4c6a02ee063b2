// dispatch/object.h: functions that all objects share.
import CGrandCentralStorage

/// Adds a reference. Any thread.
@c(dispatch_retain)
public func dispatchRetain(_ handle: Handle?) {
  let object: Unmanaged<DispatchObject> = object(handle)
  // SAFETY: the storage of what is no object holds zeros where an object has its count.
  guard object._withUnsafeGuaranteedRef({ $0.isHeldByClient }) else { return retainRarely(object) }
  object._withUnsafeGuaranteedRef { $0.addClientReference(first: { holdFirst(object) }) }
}

/// Drops a reference; the last one ends the object. Any thread.
@c(dispatch_release)
public func dispatchRelease(_ handle: Handle?) {
  let object: Unmanaged<DispatchObject> = object(handle)
  // SAFETY: as in dispatchRetain().
  guard object._withUnsafeGuaranteedRef({ $0.isHeldByClient }) else { return releaseRarely(object) }
  object._withUnsafeGuaranteedRef { $0.dropClientReference(last: { dropLast(object, of: $0) }) }
}

// Separate functions, so that the path that only counts needs no stack frame. The first two are for
// what is no object, for immortal objects, and for objects to which the program holds no reference.

@inline(never)
private func retainRarely(_ object: Unmanaged<DispatchObject>) {
  if isNoObject(object.toOpaque()) || object._withUnsafeGuaranteedRef({ $0.isUncounted }) { return }
  object._withUnsafeGuaranteedRef { $0.addClientReference(first: { holdFirst(object) }) }
}

@inline(never)
private func releaseRarely(_ object: Unmanaged<DispatchObject>) {
  if isNoObject(object.toOpaque()) || object._withUnsafeGuaranteedRef({ $0.isUncounted }) { return }
  object._withUnsafeGuaranteedRef { $0.dropClientReference(last: { dropLast(object, of: $0) }) }
}

@inline(never)
private func holdFirst(_ object: Unmanaged<DispatchObject>) {
  object._withUnsafeGuaranteedRef { $0.holdFirst() }
}

@inline(never)
private func dropLast(_ object: Unmanaged<DispatchObject>, of count: UInt32) {
  if object._withUnsafeGuaranteedRef({ $0.dropLast(of: count) }) { return }
  clientFault(
    """
    dispatch_release() of \(describe(object.toOpaque())), to which the program holds no reference. \
    Release an object once for \
    each time that it was made or retained.
    """)
}

/// Returns the program's pointer; NULL at first.
@c(dispatch_get_context)
public func dispatchGetContext(_ object: Handle) -> UnsafeMutableRawPointer? {
  if isWithoutContext(object) { return nil }
  return anyObject(object)._withUnsafeGuaranteedRef { $0.context }
}

/// Sets the program's pointer. Any thread. Immortal objects keep none, except the main queue.
@c(dispatch_set_context)
public func dispatchSetContext(_ object: Handle, _ context: UnsafeMutableRawPointer?) {
  if isWithoutContext(object) { return }
  anyObject(object)._withUnsafeGuaranteedRef {
    if object == gc_main_queue_address() || !$0.isUncounted { $0.context = context }
  }
}

private func isWithoutContext(_ object: Handle) -> Bool {
  object == gc_data_empty_address() || gc_attribute_number(object) >= 0
}

/// Sets the function that is called with the context on the target queue after the object has
/// ended. It is not called without a context.
@c(dispatch_set_finalizer_f)
public func dispatchSetFinalizer(_ object: Handle, _ finalizer: ClientFunction?) {
  if isWithoutContext(object) { return }
  anyObject(object)._withUnsafeGuaranteedRef { $0.setClientFinalizer(finalizer) }
}

/// Starts an inactive object; has no effect on others.
@c(dispatch_activate)
public func dispatchActivate(_ object: Handle) {
  withHold(anyObject(object)) { $0.activate() }
}

/// Suspends an object. Balanced by dispatch_resume().
@c(dispatch_suspend)
public func dispatchSuspend(_ object: Handle) {
  anyObject(object)._withUnsafeGuaranteedRef { $0.suspend() }
}

/// Balances one dispatch_suspend(); activates an inactive source.
@c(dispatch_resume)
public func dispatchResume(_ object: Handle) {
  anyObject(object)._withUnsafeGuaranteedRef { $0.resume() }
}

/// Sets the queue of an object's work and of its finalizer; NULL for the default queue. Does
/// nothing to the main queue and the global queues.
@c(dispatch_set_target_queue)
public func dispatchSetTargetQueue(_ object: Handle, _ target: Handle?) {
  if isWithoutContext(object) || object == gc_main_queue_address() { return }
  let target = target.map { queue($0).takeUnretainedValue() }
  withHold(anyObject(object)) {
    // A program cannot retarget objects that all programs share.
    if $0.isUncounted { return }
    $0.setTarget(queue: target)
    if !($0 is _Lane) { $0.setFinalizerQueue(target) }
  }
}

// MARK: QoS classes of queues

/// Gives a queue or source that was never active a class and a relative priority, as if it had been
/// created with them. Has no effect on others.
@c(dispatch_set_qos_class)
public func dispatchSetQoSClass(_ object: Handle, _ qosClass: UInt32, _ relativePriority: Int32) {
  setQoS(object, qosClass, relativePriority, isFloor: false)
}

/// Gives a queue or source that was never active a class floor for its items. Has no effect on
/// others.
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

/// Does nothing: items without a class have the default class here.
@c(dispatch_set_qos_class_fallback)
public func dispatchSetQoSClassFallback(_ object: Handle, _ qosClass: UInt32) {}
