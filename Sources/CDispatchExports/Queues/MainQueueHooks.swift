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

// MARK: Queues for other run loops, which no library on Linux makes

/// A serial queue. Its work runs on workers, not in the caller's run loop.
@c(_dispatch_runloop_root_queue_create_4CF)
public func dispatchRunLoopRootQueueCreate(
  _ label: UnsafePointer<CChar>?, _ flags: UInt
) -> Handle? {
  flags == 0 ? dispatchQueueCreate(label, nil) : nil
}

/// Nothing waits for the caller: false.
@c(_dispatch_runloop_root_queue_perform_4CF)
public func dispatchRunLoopRootQueuePerform(_ target: Handle?) -> Bool { false }

@c(_dispatch_runloop_root_queue_wakeup_4CF)
public func dispatchRunLoopRootQueueWakeup(_ target: Handle?) {}
