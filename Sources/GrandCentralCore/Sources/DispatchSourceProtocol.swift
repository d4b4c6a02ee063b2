// Room: Sources/DispatchSourceProtocol. The interface of all sources, and of sources of user data.

/// A source of events.
///
/// Only `DispatchSource` implements it. The default implementations stop the process with a message
/// on any other type. Every function may be called from any thread.
///
/// - Source: Apple, Dispatch, `DispatchSourceProtocol`.
public protocol DispatchSourceProtocol: Sendable {
  /// Sets the closure that runs on the source's queue when an event has happened.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs from the next event on, never twice at once; `nil` removes the handler.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  func setEventHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the event handler to a work item.
  ///
  /// - Parameter handler: performed from the next event on.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  func setEventHandler(handler: DispatchWorkItem)
  /// Sets the closure that runs on the source's queue, once and last, after the source was
  /// cancelled.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs once; `nil` removes the handler. Ignored once the source has ended.
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  func setCancelHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the cancel handler to a work item.
  ///
  /// - Parameter handler: performed once. Ignored once the source has ended.
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  func setCancelHandler(handler: DispatchWorkItem)
  /// Sets the closure that runs on the source's queue, once and first, when the source begins to
  /// monitor.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs once, soon if the source already monitors; `nil` removes the handler.
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  func setRegistrationHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the registration handler to a work item.
  ///
  /// - Parameter handler: performed once.
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  func setRegistrationHandler(handler: DispatchWorkItem)

  /// Ends the source: no event handler starts from now on, and the cancel handler runs last.
  ///
  /// May be called any number of times. An event handler that is running continues. The cancel
  /// handler runs on the source's queue; if the source is suspended, after `resume()`.
  ///
  /// - Source: `dispatch_source_cancel(3)`.
  func cancel()
  /// Undoes one `suspend()`; activates a source that was never active.
  ///
  /// Stops the process with a message if the source is active and not suspended.
  ///
  /// - Source: `dispatch_resume(3)`.
  func resume()
  /// Holds handlers back until `resume()`, which delivers what has happened since as one event.
  ///
  /// A handler that is running continues. Calls nest: each needs a `resume()` of its own.
  ///
  /// - Source: `dispatch_suspend(3)`.
  func suspend()
  /// Activates an inactive source. Has no effect on an active one.
  ///
  /// - Source: `dispatch_activate` in `dispatch/object.h` of the public reference.
  func activate()

  /// The descriptor, signal number or process number that the source watches; 0 for other kinds.
  ///
  /// - Source: `dispatch_source_get_handle(3)`.
  var handle: UInt { get }
  /// The events that the source was made for; 0 for kinds without a mask.
  ///
  /// - Source: `dispatch_source_get_mask(3)`.
  var mask: UInt { get }
  /// In the event handler, the data of the event: the merged data, the number of times that a timer
  /// fired, and so on.
  ///
  /// - Source: `dispatch_source_get_data(3)`.
  var data: UInt { get }
  /// Whether `cancel()` was called.
  ///
  /// - Source: `dispatch_source_testcancel(3)`.
  var isCancelled: Bool { get }

  /// The engine's source behind this value. Not for programs.
  var _source: DispatchSource { get }
}

/// A source whose data is the sum of what the program adds.
///
/// - Source: Apple, Dispatch, `DispatchSourceUserDataAdd`.
public protocol DispatchSourceUserDataAdd: DispatchSourceProtocol {
  /// Adds to the data of the next event. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the number to add; 0 causes no event. The sum wraps around.
  /// - Source: `dispatch_source_merge_data(3)`.
  func add(data: UInt)
}

/// A source whose data is the set of bits that the program sets.
///
/// - Source: Apple, Dispatch, `DispatchSourceUserDataOr`.
public protocol DispatchSourceUserDataOr: DispatchSourceProtocol {
  /// Sets bits in the data of the next event. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the bits to set; 0 causes no event.
  /// - Source: `dispatch_source_merge_data(3)`.
  func or(data: UInt)
}

/// A source whose data is the last value that the program set.
///
/// - Source: Apple, Dispatch, `DispatchSourceUserDataReplace`.
public protocol DispatchSourceUserDataReplace: DispatchSourceProtocol {
  /// Replaces the data of the next event. Any thread.
  ///
  /// Stops the process with a message on a source that was made for another operation.
  ///
  /// - Parameter data: the new value; 0 causes no event.
  /// - Source: `dispatch_source_merge_data(3)`.
  func replace(data: UInt)
}

// MARK: Default implementations

extension DispatchSourceProtocol {
  /// The engine's source. Stops the process with a message, unless the type is `DispatchSource`.
  public var _source: DispatchSource {
    clientFault(
      "\(type(of: self)) conforms to DispatchSourceProtocol but is no DispatchSource. Make sources with "
        + "DispatchSource's functions.")
  }

  var source: DispatchSource { _source }

  private func set(
    _ role: SourceRole, to handler: DispatchSourceHandler?, qos: DispatchQoS,
    flags: DispatchWorkItemFlags
  ) {
    // Not map(): a closure that passes through a generic function is wrapped twice, with an
    // allocation each time.
    if let handler {
      source.setHandler(role, to: SourceHandler(handler, qos: qos, flags: flags))
    } else {
      source.setHandler(role, to: nil)
    }
  }

  /// Sets the closure that runs on the source's queue when an event has happened.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs from the next event on, never twice at once; `nil` removes the handler.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  public func setEventHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.event, to: handler, qos: qos, flags: flags)
  }

  /// Sets the event handler to a work item.
  ///
  /// - Parameter handler: performed from the next event on.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  public func setEventHandler(handler: DispatchWorkItem) {
    source.setHandler(.event, to: SourceHandler(handler))
  }

  /// Sets the closure that runs on the source's queue, once and last, after the source was
  /// cancelled.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs once; `nil` removes the handler. Ignored once the source has ended.
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  public func setCancelHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.cancel, to: handler, qos: qos, flags: flags)
  }

  /// Sets the cancel handler to a work item.
  ///
  /// - Parameter handler: performed once. Ignored once the source has ended.
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  public func setCancelHandler(handler: DispatchWorkItem) {
    source.setHandler(.cancel, to: SourceHandler(handler))
  }

  /// Sets the closure that runs on the source's queue, once and first, when the source begins to
  /// monitor.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default the caller's, but at most user-initiated.
  ///   - flags: the attributes of the handler.
  ///   - handler: runs once, soon if the source already monitors; `nil` removes the handler.
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  public func setRegistrationHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.registration, to: handler, qos: qos, flags: flags)
  }

  /// Sets the registration handler to a work item.
  ///
  /// - Parameter handler: performed once.
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  public func setRegistrationHandler(handler: DispatchWorkItem) {
    source.setHandler(.registration, to: SourceHandler(handler))
  }
}
