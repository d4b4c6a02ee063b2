// Workloops: serial queues that run the most urgent item first.

private func make(
  _ label: UnsafePointer<CChar>?, _ attributes: DispatchWorkloop.Attributes
) -> Handle {
  let label = label.map { String(cString: $0) } ?? ""
  return newHandle(DispatchWorkloop(label: label, attributes: attributes))
}

/// Creates a workloop.
@c(dispatch_workloop_create)
public func dispatchWorkloopCreate(_ label: UnsafePointer<CChar>?) -> Handle { make(label, []) }

/// Creates a workloop that runs nothing before dispatch_activate().
@c(dispatch_workloop_create_inactive)
public func dispatchWorkloopCreateInactive(_ label: UnsafePointer<CChar>?) -> Handle {
  make(label, .initiallyInactive)
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
  DispatchWorkloop.innermost.map { newHandle($0) }
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

// These do nothing: Linux has no equivalent.

@c(dispatch_workloop_set_autorelease_frequency)
public func dispatchWorkloopSetAutoreleaseFrequency(_ workloop: Handle?, _ frequency: UInt) {}

@c(dispatch_workloop_set_cpupercent)
public func dispatchWorkloopSetCPUPercent(_ workloop: Handle?, _ percent: UInt8, _ refill: UInt32) {
}

/// Whether a workloop should yield to others: never, because others do not wait for it.
@c(_dispatch_workloop_should_yield_4NW)
public func dispatchWorkloopShouldYield() -> Bool { false }
