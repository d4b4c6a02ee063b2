// dispatch/queue.h: making queues, finding them, asking them.
import CDispatchStorage

private func makeQueue(
  _ label: UnsafePointer<CChar>?, _ attribute: QueueAttribute, target: DispatchQueue?
) -> Handle {
  var attributes: DispatchQueue.Attributes = []
  if !attribute.isSerial { attributes.insert(.concurrent) }
  if attribute.isInactive { attributes.insert(.initiallyInactive) }
  // Who is on a queue may be told of a global one: nobody counts for them from then on.
  GlobalQueues.prepare()
  return newHandle(
    ClientQueue(
      clientLabel: label, qos: attribute.qos, attributes: attributes, target: target))
}

/// Makes a queue; the label is copied.
@c(dispatch_queue_create)
public func dispatchQueueCreate(_ label: UnsafePointer<CChar>?, _ attribute: Handle?) -> Handle {
  makeQueue(label, .read(attribute), target: nil)
}

/// Makes a queue with a target, which it holds; NULL: the default one.
@c(dispatch_queue_create_with_target)
public func dispatchQueueCreateWithTarget(
  _ label: UnsafePointer<CChar>?, _ attribute: Handle?, _ target: Handle?
) -> Handle {
  makeQueue(
    label, .read(attribute), target: target.map { queue($0).takeUnretainedValue() })
}

/// Makes a queue; vouchers are Mach's.
@c(dispatch_queue_create_with_accounting_override_voucher)
public func dispatchQueueCreateWithAccountingOverrideVoucher(
  _ label: UnsafePointer<CChar>?, _ attribute: Handle?, _ voucher: UnsafeMutableRawPointer?
) -> Handle {
  makeQueue(label, .read(attribute), target: nil)
}

/// The global queue of a QoS class or an older priority; NULL for another number, or unknown flags.
@c(dispatch_get_global_queue)
public func dispatchGetGlobalQueue(_ identifier: Int, _ flags: UInt) -> Handle? {
  // 2 is DISPATCH_QUEUE_OVERCOMMIT: a thread for each item, beyond the width if need be.
  guard flags & ~2 == 0 else { return nil }
  return GlobalQueues.handle(identifier, overcommits: flags != 0)
}

/// The queue that the caller runs on; outside of all, the default global queue.
@c(dispatch_get_current_queue)
public func dispatchGetCurrentQueue() -> Handle { handle(of: DispatchQueue.current ?? .global()) }

/// The label, as long as the queue lives; NULL asks for that of the current queue. Never NULL.
@c(dispatch_queue_get_label)
public func dispatchQueueGetLabel(_ target: Handle?) -> UnsafePointer<CChar> {
  let named = target.map { queue($0).takeUnretainedValue() } ?? DispatchQueue.current ?? .global()
  return named.labelString { named.copyLabel() }
}

/// Gives a queue a label that is not copied. Messages of the engine keep the first one.
@c(dispatch_queue_set_label_nocopy)
public func dispatchQueueSetLabelNoCopy(_ target: Handle?, _ label: UnsafePointer<CChar>?) {
  queue(target)._withUnsafeGuaranteedRef { $0.setLabelString(label) }
}

/// The class that a queue was given, and its place in it.
@c(dispatch_queue_get_qos_class)
public func dispatchQueueGetQoSClass(
  _ target: Handle?, _ relativePriority: UnsafeMutablePointer<Int32>?
) -> UInt32 {
  let qos = queue(target)._withUnsafeGuaranteedRef { $0.qos }
  relativePriority?.pointee = Int32(qos.relativePriority)
  return qos.qosClass.rawValue
}

/// No more than `width` items of a concurrent queue run at once, of those that come after this. A negative number asks for
/// as many as there are CPUs: so many the pool runs anyway, and more only where items wait.
@c(dispatch_queue_set_width)
public func dispatchQueueSetWidth(_ target: Handle?, _ width: Int) {
  withHold(queue(target)) { $0.setWidth(width < 0 ? .max : width) }
}

// MARK: Specifics

/// The value under a key of the queue that the caller runs on, or of the nearest of its targets that has one.
@c(dispatch_get_specific)
public func dispatchGetSpecific(_ key: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  key.flatMap { DispatchQueue.currentSpecific($0) }
}

/// The value under a key of this queue itself.
@c(dispatch_queue_get_specific)
public func dispatchQueueGetSpecific(
  _ target: Handle?, _ key: UnsafeRawPointer?
) -> UnsafeMutableRawPointer? {
  guard let key else { return nil }
  return queue(target)._withUnsafeGuaranteedRef { $0.specific(key) }
}

/// Sets a value; NULL takes it away. The destructor is called with it, on a global queue, when it goes.
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

/// Stops the process unless the caller runs on the queue, or on one that leads to it.
@c(dispatch_assert_queue)
public func dispatchAssertQueue(_ target: Handle?) {
  let queue = queue(target)
  if !queue._withUnsafeGuaranteedRef({ $0.isCurrent }) {
    assert(.onQueue(queue.takeUnretainedValue()))
  }
}

/// Stops the process unless the caller has the queue to itself.
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
