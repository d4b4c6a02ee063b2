// dispatch/queue.h: creating, looking up and querying queues.
import CGrandCentralStorage

private func makeQueue(
  _ label: UnsafePointer<CChar>?, _ attribute: QueueAttribute, target: DispatchQueue?
) -> Handle {
  var attributes: DispatchQueue.Attributes = []
  if !attribute.isSerial { attributes.insert(.concurrent) }
  if attribute.isInactive { attributes.insert(.initiallyInactive) }
  // The program may release a global queue that it gets here: its references are not counted from
  // now on.
  GlobalQueues.prepare()
  return newHandle(
    ClientQueue(
      clientLabel: label, qos: attribute.qos, attributes: attributes, target: target))
}

/// Creates a queue; the label is copied.
@c(dispatch_queue_create)
public func dispatchQueueCreate(_ label: UnsafePointer<CChar>?, _ attribute: Handle?) -> Handle {
  makeQueue(label, .read(attribute), target: nil)
}

/// Creates a queue that retains its target; NULL for the default target.
@c(dispatch_queue_create_with_target)
public func dispatchQueueCreateWithTarget(
  _ label: UnsafePointer<CChar>?, _ attribute: Handle?, _ target: Handle?
) -> Handle {
  makeQueue(
    label, .read(attribute), target: target.map { queue($0).takeUnretainedValue() })
}

/// Creates a queue. Ignores the voucher, which is Mach's.
@c(dispatch_queue_create_with_accounting_override_voucher)
public func dispatchQueueCreateWithAccountingOverrideVoucher(
  _ label: UnsafePointer<CChar>?, _ attribute: Handle?, _ voucher: UnsafeMutableRawPointer?
) -> Handle {
  makeQueue(label, .read(attribute), target: nil)
}

/// Returns the global queue of a QoS class or an older priority; NULL for other numbers, or unknown
/// flags.
@c(dispatch_get_global_queue)
public func dispatchGetGlobalQueue(_ identifier: Int, _ flags: UInt) -> Handle? {
  // 2 is DISPATCH_QUEUE_OVERCOMMIT: a thread for each item, beyond the width if necessary.
  guard flags & ~2 == 0 else { return nil }
  return GlobalQueues.handle(identifier, overcommits: flags != 0)
}

/// Returns the queue that the caller runs on; outside of all queues, the default global queue.
@c(dispatch_get_current_queue)
public func dispatchGetCurrentQueue() -> Handle { handle(of: DispatchQueue.current ?? .global()) }

/// Returns a queue's label, which lives as long as the queue; never NULL. NULL asks for the current
/// queue.
@c(dispatch_queue_get_label)
public func dispatchQueueGetLabel(_ target: Handle?) -> UnsafePointer<CChar> {
  let named = target.map { queue($0).takeUnretainedValue() } ?? DispatchQueue.current ?? .global()
  return named.labelString { named.copyLabel() }
}

/// Sets a label that is not copied. The engine's messages keep the first label.
@c(dispatch_queue_set_label_nocopy)
public func dispatchQueueSetLabelNoCopy(_ target: Handle?, _ label: UnsafePointer<CChar>?) {
  queue(target)._withUnsafeGuaranteedRef { $0.setLabelString(label) }
}

/// Returns the class that a queue was given, and the relative priority within it.
@c(dispatch_queue_get_qos_class)
public func dispatchQueueGetQoSClass(
  _ target: Handle?, _ relativePriority: UnsafeMutablePointer<Int32>?
) -> UInt32 {
  let qos = queue(target)._withUnsafeGuaranteedRef { $0.qos }
  relativePriority?.pointee = Int32(qos.relativePriority)
  return qos.qosClass.rawValue
}

/// Limits how many items of a concurrent queue run at once, of those submitted later. A negative
/// number selects the number of CPUs, which the pool runs anyway; more run only while items wait.
@c(dispatch_queue_set_width)
public func dispatchQueueSetWidth(_ target: Handle?, _ width: Int) {
  if width < 0 { SwiftJobs.runtimeStarts() }
  withHold(queue(target)) { $0.setWidth(width < 0 ? .max : width) }
}

// MARK: Specifics

/// Returns the value that the caller's queue, or its nearest target with one, has under a key.
@c(dispatch_get_specific)
public func dispatchGetSpecific(_ key: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  key.flatMap { DispatchQueue.currentSpecific($0) }
}

/// Returns the value that this queue itself has under a key.
@c(dispatch_queue_get_specific)
public func dispatchQueueGetSpecific(
  _ target: Handle?, _ key: UnsafeRawPointer?
) -> UnsafeMutableRawPointer? {
  guard let key else { return nil }
  return queue(target)._withUnsafeGuaranteedRef { $0.specific(key) }
}

/// Sets a value; NULL removes it. The destructor gets the old value, on a global queue.
@c(dispatch_queue_set_specific)
public func dispatchQueueSetSpecific(
  _ target: Handle?, _ key: UnsafeRawPointer?, _ value: UnsafeMutableRawPointer?,
  _ destructor: ClientFunction?
) {
  guard let key else { return }
  withHold(queue(target)) {
    $0.setSpecific(key, value, destructor: destructor)
  }
}

// MARK: Assertions

/// Stops the process unless the caller runs on the queue, or on a queue that targets it.
@c(dispatch_assert_queue)
public func dispatchAssertQueue(_ target: Handle?) {
  let queue = queue(target)
  if !queue._withUnsafeGuaranteedRef({ $0.isCurrent }) {
    assert(.onQueue(queue.takeUnretainedValue()))
  }
}

/// Stops the process unless the caller runs on the queue exclusively.
@c(dispatch_assert_queue_barrier)
public func dispatchAssertQueueBarrier(_ target: Handle?) {
  assert(.onQueueAsBarrier(queue(target).takeUnretainedValue()))
}

/// Stops the process if the caller runs on the queue.
@c(dispatch_assert_queue_not)
public func dispatchAssertQueueNot(_ target: Handle?) {
  let queue = queue(target)
  if queue._withUnsafeGuaranteedRef({ $0.isCurrent }) {
    assert(.notOnQueue(queue.takeUnretainedValue()))
  }
}

private func assert(_ predicate: DispatchPredicate) {
  dispatchPrecondition(condition: predicate, file: "dispatch_assert_queue", line: 0)
}
