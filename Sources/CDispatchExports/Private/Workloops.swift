// Workloops, implemented as serial queues. Elsewhere a workloop orders its work by class. Here it
// keeps the order of submission, which a workloop may choose, and raises work that urgent work
// waits behind.

/// The key under which a workloop stores its own address, which distinguishes it from other queues.
// SAFETY: only the address is used, never the memory.
private nonisolated(unsafe) let mark = UnsafeRawPointer(
  UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

private func make(_ label: UnsafePointer<CChar>?, _ attribute: Handle?) -> Handle {
  let handle = dispatchQueueCreate(label, attribute)
  queue(handle)._withUnsafeGuaranteedRef { $0.setSpecific(mark, handle, destructor: nil) }
  return handle
}

/// Creates a workloop.
@c(dispatch_workloop_create)
public func dispatchWorkloopCreate(_ label: UnsafePointer<CChar>?) -> Handle { make(label, nil) }

/// Creates a workloop that runs nothing before dispatch_activate().
@c(dispatch_workloop_create_inactive)
public func dispatchWorkloopCreateInactive(_ label: UnsafePointer<CChar>?) -> Handle {
  make(label, dispatchQueueAttrMakeInitiallyInactive(nil))
}

/// Whether the caller runs on the workloop.
@c(dispatch_workloop_is_current)
public func dispatchWorkloopIsCurrent(_ workloop: Handle?) -> Bool {
  queue(workloop)._withUnsafeGuaranteedRef { $0.isCurrent }
}

/// Returns the workloop that the caller runs on, with a reference for the caller; NULL outside of
/// all.
@c(dispatch_workloop_copy_current)
public func dispatchWorkloopCopyCurrent() -> Handle? {
  guard let current = DispatchQueue.currentSpecific(mark) else { return nil }
  dispatchRetain(current)
  return current
}

/// Gives a workloop that was never active a class.
@c(dispatch_workloop_set_qos_class)
public func dispatchWorkloopSetQoSClass(
  _ workloop: Handle, _ qosClass: UInt32, _ flags: UInt
) {
  dispatchSetQoSClass(workloop, qosClass, 0)
}

/// Gives a workloop that was never active a class floor for its items.
@c(dispatch_workloop_set_qos_class_floor)
public func dispatchWorkloopSetQoSClassFloor(
  _ workloop: Handle, _ qosClass: UInt32, _ relativePriority: Int32, _ flags: UInt
) {
  dispatchSetQoSClassFloor(workloop, qosClass, relativePriority)
}

// These do nothing: a serial queue already behaves as they request, or Linux has no equivalent.

@c(dispatch_workloop_set_autorelease_frequency)
public func dispatchWorkloopSetAutoreleaseFrequency(_ workloop: Handle?, _ frequency: UInt) {}

@c(dispatch_workloop_set_cpupercent)
public func dispatchWorkloopSetCPUPercent(_ workloop: Handle?, _ percent: UInt8, _ refill: UInt32) {
}

/// Whether a workloop should yield to others: never, because others do not wait for it.
@c(_dispatch_workloop_should_yield_4NW)
public func dispatchWorkloopShouldYield() -> Bool { false }
