// Workloops: serial queues that order their work by its class. Here a serial queue keeps the order of submission, which
// is one of those that a workloop may choose, and raises work that something more urgent waits behind.

/// Under this key a workloop keeps its own address, by which it is known from other queues.
// SAFETY: only its address counts.
private nonisolated(unsafe) let mark = UnsafeRawPointer(
  UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

private func make(_ label: UnsafePointer<CChar>?, _ attribute: Handle?) -> Handle {
  let handle = dispatchQueueCreate(label, attribute)
  queue(handle)._withUnsafeGuaranteedRef { $0.setSpecific(mark, handle, destructor: nil) }
  return handle
}

/// Makes a workloop.
@c(dispatch_workloop_create)
public func dispatchWorkloopCreate(_ label: UnsafePointer<CChar>?) -> Handle { make(label, nil) }

/// Makes a workloop that runs nothing before dispatch_activate().
@c(dispatch_workloop_create_inactive)
public func dispatchWorkloopCreateInactive(_ label: UnsafePointer<CChar>?) -> Handle {
  make(label, dispatchQueueAttrMakeInitiallyInactive(nil))
}

/// Whether the caller runs on the workloop.
@c(dispatch_workloop_is_current)
public func dispatchWorkloopIsCurrent(_ workloop: Handle?) -> Bool {
  queue(workloop)._withUnsafeGuaranteedRef { $0.isCurrent }
}

/// The workloop that the caller runs on, with a reference for the caller; NULL outside of all.
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

/// Gives a workloop that was never active the least class that its items run at.
@c(dispatch_workloop_set_qos_class_floor)
public func dispatchWorkloopSetQoSClassFloor(
  _ workloop: Handle, _ qosClass: UInt32, _ relativePriority: Int32, _ flags: UInt
) {
  dispatchSetQoSClassFloor(workloop, qosClass, relativePriority)
}

// What these ask for a serial queue has anyway, or Linux does not have.

@c(dispatch_workloop_set_autorelease_frequency)
public func dispatchWorkloopSetAutoreleaseFrequency(_ workloop: Handle?, _ frequency: UInt) {}

@c(dispatch_workloop_set_cpupercent)
public func dispatchWorkloopSetCPUPercent(_ workloop: Handle?, _ percent: UInt8, _ refill: UInt32) {
}

/// Whether a workloop should make way for others: they do not wait for it.
@c(_dispatch_workloop_should_yield_4NW)
public func dispatchWorkloopShouldYield() -> Bool { false }
