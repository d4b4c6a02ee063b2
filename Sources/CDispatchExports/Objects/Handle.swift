// A handle: what a C program holds is the address of the engine's object. Three kinds of addresses
// are not objects and are recognised here: the storage of the main queue and of the empty data,
// whose address and size the linked program knows, and the slots of attributes. NULL is a client's
// error; the message names the function.
//
// A program's references are counted in the object and together hold one Swift reference: see
// Work/ClientReferences. Dropping the last reference ends the object, as in Swift: an object with
// work holds itself, a source that only monitors does not.
//
// Invariant of every function of the C interface: the program holds the object until the call has
// taken effect, and no longer. The effect may be that a handler or an item runs at once on another
// thread and releases the last reference while the call is still inside. So a function accesses the
// object after its effect only if it holds it.
//   withHold(…)               the call retains the object until it returns. For every call that can
//                             let client code run and accesses the object afterwards: activate,
//                             cancel, set a handler, a timer, a target or a specific, merge data,
//                             notify
//   resume                    no hold: one exchange, and no access to the object after it; a
//                             resume() that finds work or a count takes a hold itself
//                             (Lanes/Lane+Suspend)
//   channels                  the same: takeUnretainedValue() is a strong reference for the call
//   async, barrier_async,     no hold: the push publishes the node with its last access to the
//   after                     queue, or the queue retains itself before that (Lanes/Lane+Push)
//   group_async               no hold: the node holds the group
//   group_leave               no hold: after one exchange the call uses only the group's address
//                             (DispatchGroup.leaveAtOnce)
//   semaphore_signal          no hold: until the grant is published a waiter is inside, which
//                             holds the object
//   sync, async_and_wait,     no hold: the caller waits, and holds the object meanwhile
//   apply, group_wait,
//   semaphore_wait
//   data_apply                no hold: the caller holds the data until the last call of the
//                             applier, after which nothing is accessed
//   functions that only       no hold: they let no client code run
//   query, count or store
// Tests/CConformance/Cases/Lifetimes*.c test the invariant, with a kind of race for each function.
import CGrandCentralStorage

/// An object of the C interface.
public typealias Handle = UnsafeMutableRawPointer

/// A function of the C interface, called with its context.
public typealias ClientFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Returns the queue at an address.
@inline(__always)
func queue(_ handle: Handle?, _ function: StaticString = #function) -> Unmanaged<DispatchQueue> {
  if handle == gc_main_queue_address() { return .passUnretained(DispatchQueue.main) }
  return object(handle, function)
}

/// Returns the queue at an address; for NULL the default global queue.
func queueOrDefault(_ handle: Handle?) -> DispatchQueue {
  handle == nil ? .global() : queue(handle).takeUnretainedValue()
}

/// Returns the object at an address. The caller guarantees its class.
@inline(__always)
func object<Class: AnyObject>(
  _ handle: Handle?, _ function: StaticString = #function
) -> Unmanaged<Class> {
  guard let handle else { failWithoutObject(function) }
  // SAFETY: the program guarantees a valid object of this type, as for every object in C.
  return Unmanaged.fromOpaque(handle)
}

/// Calls `body` with an object that the call retains meanwhile: see the invariant above.
@inline(__always)
func withHold<Class: AnyObject, Result>(
  _ object: Unmanaged<Class>, _ body: (Class) -> Result
) -> Result {
  let held = object.retain()
  defer { held.release() }
  // SAFETY: held until the body has returned.
  return held._withUnsafeGuaranteedRef(body)
}

/// Returns any object: a queue, a source, a group, a semaphore, a channel, data.
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

/// Returns the address by which programs know a queue.
func handle(of queue: DispatchQueue) -> Handle {
  GlobalQueues.prepare()
  return queue === DispatchQueue.main
    ? gc_main_queue_address() : Unmanaged.passUnretained(queue).toOpaque()
}

/// Returns the address of a new, unshared object, with the reference that the program gets.
func newHandle(_ object: consuming DispatchObject) -> Handle {
  DispatchObject.heldByClient(object).toOpaque()
}

/// Whether an address is that of an immortal object's storage or an attribute, and not of an
/// object.
@inline(__always)
func isNoObject(_ handle: Handle?) -> Bool {
  handle == gc_main_queue_address() || handle == gc_data_empty_address()
    || gc_attribute_number(handle) >= 0
}
