// What a C program holds: the address of the engine's object. Three kinds of addresses are not of objects, and are
// recognised here: the main queue's and the empty data's storage, whose place and size the linked program knows, and
// the slots of attributes. So is no address at all, a client's mistake that must be told with a name.
// A program's references are counted in the object, and stand for one of Swift's: see Work/ClientReferences. Whoever holds
// the last one ends the object, as in Swift: an object that works holds itself, a source that only listens does not.
//
// The rule for every function of the C interface: the program holds the object until the call has
// had its effect, and no longer. The effect may be that a handler or an item runs, at once and on
// another thread, and releases the last reference while the call is still inside. So a function
// touches the object after its effect only if it holds it.
//   withHold(…)               the call retains the object until it returns. For every call that can
//                             let client code run and touches the object afterwards: activate,
//                             cancel, set a handler, a timer, a target or a specific, merge data,
//                             notify
//   resume                    no hold: one exchange, and then nothing of the object; a resume()
//                             that finds work or a count takes a hold itself (Lanes/Lane+Suspend)
//   channels                  the same: takeUnretainedValue() is a strong reference for the call
//   async, barrier_async,     no hold: the push publishes the node with its last access to the
//   after                     queue, or the queue retains itself before that (Lanes/Lane+Push)
//   group_async               no hold: the node holds the group
//   group_leave               no hold: one exchange, and then nothing of the group but its address
//                             (DispatchGroup.leaveAtOnce)
//   semaphore_signal          no hold: until the grant is published a waiter, which has one, is
//                             inside
//   sync, async_and_wait,     no hold: the caller waits, and holds the object while it does
//   apply, group_wait,
//   semaphore_wait
//   functions that only ask,  no hold: they let nothing run
//   count or store
// The test of the rule: Tests/CConformance/Cases/Lifetimes*.c, a kind of race for each function.
import CDispatchStorage

/// An object of the C interface.
public typealias Handle = UnsafeMutableRawPointer

/// A function of the C interface, called with its context.
public typealias ClientFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// The queue at an address.
@inline(__always)
func queue(_ handle: Handle?, _ function: StaticString = #function) -> Unmanaged<DispatchQueue> {
  if handle == gc_main_queue_address() { return .passUnretained(DispatchQueue.main) }
  return object(handle, function)
}

/// The queue at an address; none: the default global queue.
func queueOrDefault(_ handle: Handle?) -> DispatchQueue {
  handle == nil ? .global() : queue(handle).takeUnretainedValue()
}

/// The object at an address, of the class that the caller knows it has.
@inline(__always)
func object<Class: AnyObject>(
  _ handle: Handle?, _ function: StaticString = #function
) -> Unmanaged<Class> {
  guard let handle else { failWithoutObject(function) }
  // SAFETY: the program's promise, as with every object in C.
  return Unmanaged.fromOpaque(handle)
}

/// Calls `body` with an object that the call itself holds meanwhile: see the rule above.
@inline(__always)
func withHold<Class: AnyObject, Result>(
  _ object: Unmanaged<Class>, _ body: (Class) -> Result
) -> Result {
  let held = object.retain()
  defer { held.release() }
  // SAFETY: held until the body has returned.
  return held._withUnsafeGuaranteedRef(body)
}

/// Any object: a queue, a source, a group, a semaphore, a channel, data.
@inline(__always)
func anyObject(
  _ handle: Handle?, _ function: StaticString = #function
) -> Unmanaged<DispatchObject> {
  if handle == gc_main_queue_address() { return .passUnretained(DispatchQueue.main) }
  return object(handle, function)
}

@inline(never)
private func failWithoutObject(_ function: StaticString) -> Never {
  clientFault(
    "\(function) was called with NULL in the place of an object. Check what the function that made it returned."
  )
}

/// The address by which programs know a queue.
func handle(of queue: DispatchQueue) -> Handle {
  GlobalQueues.prepare()
  return queue === DispatchQueue.main
    ? gc_main_queue_address() : Unmanaged.passUnretained(queue).toOpaque()
}

/// A new object that nobody else knows of yet, with the reference that the program gets.
func newHandle(_ object: consuming DispatchObject) -> Handle {
  DispatchObject.heldByClient(object).toOpaque()
}

/// Whether what is at an address is no object, but the place of one that never ends.
@inline(__always)
func isNoObject(_ handle: Handle?) -> Bool {
  handle == gc_main_queue_address() || handle == gc_data_empty_address()
    || gc_attribute_number(handle) >= 0
}
