// The main queue's doors: the program's last call, and the hooks by which a run loop drains the queue instead.
import CDispatchStorage

#if !GRANDCENTRAL_DROPIN
  @_spi(RunLoop) import GrandCentralCore
#endif

/// Runs the main queue for ever. The main thread only.
@c(dispatch_main)
public func runDispatchMain() -> Never { dispatchMain() }

/// A non-blocking eventfd(2) that becomes readable when work comes to the main queue; -1 with errno set.
@c(_dispatch_get_main_queue_port_4CF)
public func dispatchGetMainQueuePort() -> Int32 { MainQueueRunLoop.descriptor() }

/// The same descriptor.
@c(_dispatch_get_main_queue_handle_4CF)
public func dispatchGetMainQueueHandle() -> Int32 { MainQueueRunLoop.descriptor() }

/// Runs what is queued on the main queue now; from one of its items it does nothing. The main thread only.
@c(_dispatch_main_queue_callback_4CF)
public func dispatchMainQueueCallback(_ message: UnsafeMutableRawPointer?) {
  MainQueueRunLoop.drain()
}

// MARK: Queues for other run loops

/// A serial queue whose work waits for _dispatch_runloop_root_queue_perform_4CF(). Flags must be 0.
@c(_dispatch_runloop_root_queue_create_4CF)
public func dispatchRunLoopRootQueueCreate(
  _ label: UnsafePointer<CChar>?, _ flags: UInt
) -> Handle? {
  flags == 0 ? newHandle(RunLoopQueue(label: label.map { String(cString: $0) } ?? "")) : nil
}

/// Runs one item of such a queue. Returns whether another turn is asked for; of another queue, false.
@c(_dispatch_runloop_root_queue_perform_4CF)
public func dispatchRunLoopRootQueuePerform(_ target: Handle?) -> Bool {
  // The item may drop the last reference.
  let kept = queue(target).retain()
  defer { kept.release() }
  return kept._withUnsafeGuaranteedRef { ($0 as? RunLoopQueue)?.perform() ?? false }
}

/// Would make the run loop look, by a port that Linux has none of: it looks by itself.
@c(_dispatch_runloop_root_queue_wakeup_4CF)
public func dispatchRunLoopRootQueueWakeup(_ target: Handle?) {}
