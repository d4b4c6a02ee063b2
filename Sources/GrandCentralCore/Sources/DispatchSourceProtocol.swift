// Room: Sources/DispatchSourceProtocol. What all sources can do, and what each kind adds.

/// A source of events.
///
/// - Source: Apple, Dispatch, `DispatchSourceProtocol`.
public protocol DispatchSourceProtocol: Sendable {
  /// Sets what runs on the source's queue when something has happened; `nil` takes it away. A handler
  /// counts from the next event on. It never runs twice at once.
  func setEventHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the event handler to a work item.
  func setEventHandler(handler: DispatchWorkItem)
  /// Sets what runs once, last, on the source's queue when the source has been cancelled.
  func setCancelHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the cancel handler to a work item.
  func setCancelHandler(handler: DispatchWorkItem)
  /// Sets what runs once, first, on the source's queue when the source has begun to watch.
  func setRegistrationHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  /// Sets the registration handler to a work item.
  func setRegistrationHandler(handler: DispatchWorkItem)

  /// Ends the source. Any thread, any number of times. An event handler that runs goes on; no other starts.
  /// The cancel handler runs on the source's queue, after `resume()` if the source is suspended.
  func cancel()
  /// Starts an inactive source; otherwise takes back one `suspend()`.
  func resume()
  /// Holds handlers back. What happens meanwhile is delivered as one event at `resume()`.
  func suspend()
  /// Starts an inactive source.
  func activate()

  /// What the source watches: a descriptor, a signal's number, a process; 0 where that says nothing.
  var handle: UInt { get }
  /// Which events the source asked for.
  var mask: UInt { get }
  /// In the event handler, what has happened: the data merged, the number of times that a timer fired.
  var data: UInt { get }
  /// Whether `cancel()` was called.
  var isCancelled: Bool { get }

  /// The engine's source, which this is. Not for programs.
  var _source: DispatchSource { get }
}

/// A source whose events are numbers that the program adds up.
public protocol DispatchSourceUserDataAdd: DispatchSourceProtocol {
  /// Adds to what the next event handler finds in `data`. Zero is no event. Any thread.
  func add(data: UInt)
}

/// A source whose events are bits that the program sets.
public protocol DispatchSourceUserDataOr: DispatchSourceProtocol {
  /// Sets bits in what the next event handler finds in `data`. Zero is no event. Any thread.
  func or(data: UInt)
}

/// A source whose event is the last value that the program gave.
public protocol DispatchSourceUserDataReplace: DispatchSourceProtocol {
  /// Replaces what the next event handler finds in `data`. Zero is no event. Any thread.
  func replace(data: UInt)
}

// MARK: As every source of this package does it

extension DispatchSourceProtocol {
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
    // Not map(): a closure that goes through a generic is wrapped twice, with an allocation each time.
    if let handler {
      source.setHandler(role, to: SourceHandler(handler, qos: qos, flags: flags))
    } else {
      source.setHandler(role, to: nil)
    }
  }

  /// Sets what runs on the source's queue when something has happened; `nil` takes it away.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS; by default that of the caller.
  ///   - flags: what is special about the handler.
  ///   - handler: counts from the next event on. It never runs twice at once.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  public func setEventHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.event, to: handler, qos: qos, flags: flags)
  }

  /// Sets the event handler to a work item.
  public func setEventHandler(handler: DispatchWorkItem) {
    source.setHandler(.event, to: .item(handler))
  }

  /// Sets what runs once, last, on the source's queue when the source has been cancelled.
  ///
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  public func setCancelHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.cancel, to: handler, qos: qos, flags: flags)
  }

  /// Sets the cancel handler to a work item.
  public func setCancelHandler(handler: DispatchWorkItem) {
    source.setHandler(.cancel, to: .item(handler))
  }

  /// Sets what runs once, first, on the source's queue when the source has begun to watch.
  ///
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  public func setRegistrationHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) {
    set(.registration, to: handler, qos: qos, flags: flags)
  }

  /// Sets the registration handler to a work item.
  public func setRegistrationHandler(handler: DispatchWorkItem) {
    source.setHandler(.registration, to: .item(handler))
  }
}
