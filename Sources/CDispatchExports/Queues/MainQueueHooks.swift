// The main queue: dispatch_main(), and the hooks with which a run loop drains the queue instead.
import CGrandCentralStorage

#if !GRANDCENTRAL_DROPIN
  @_spi(RunLoop) import GrandCentralCore
#endif

/// Runs the main queue. Never returns. The main thread only.
@c(dispatch_main)
public func runDispatchMain() -> Never { dispatchMain() }

/// Returns a non-blocking eventfd(2) that becomes readable when the main queue gets work; -1 with
/// errno set.
@c(_dispatch_get_main_queue_port_4CF)
public func dispatchGetMainQueuePort() -> Int32 { MainQueueRunLoop.descriptor() }

/// Returns the same descriptor.
@c(_dispatch_get_main_queue_handle_4CF)
public func dispatchGetMainQueueHandle() -> Int32 { MainQueueRunLoop.descriptor() }

/// Runs the items now queued on the main queue; does nothing if called from one of them. The main
/// thread only.
@c(_dispatch_main_queue_callback_4CF)
public func dispatchMainQueueCallback(_ message: UnsafeMutableRawPointer?) {
  MainQueueRunLoop.drain()
}

// MARK: Queues for other run loops

/// Creates a serial queue that runs items only in _dispatch_runloop_root_queue_perform_4CF(). Flags
/// must be 0.
@c(_dispatch_runloop_root_queue_create_4CF)
public func dispatchRunLoopRootQueueCreate(
  _ label: UnsafePointer<CChar>?, _ flags: UInt
) -> Handle? {
  flags == 0 ? newHandle(RunLoopQueue(label: label.map { String(cString: $0) } ?? "")) : nil
}

/// Runs one item of such a queue. Returns whether the run loop must call again; false for other
/// queues.
@c(_dispatch_runloop_root_queue_perform_4CF)
public func dispatchRunLoopRootQueuePerform(_ target: Handle?) -> Bool {
  // The item may drop the last reference.
  let kept = queue(target).retain()
  defer { kept.release() }
  return kept._withUnsafeGuaranteedRef { ($0 as? RunLoopQueue)?.perform() ?? false }
}

/// Does nothing: it would wake the run loop through a Mach port. The run loop checks the queue
/// itself.
@c(_dispatch_runloop_root_queue_wakeup_4CF)
public func dispatchRunLoopRootQueueWakeup(_ target: Handle?) {}
