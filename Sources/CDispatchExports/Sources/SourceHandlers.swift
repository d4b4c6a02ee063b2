// dispatch/source.h: handlers.

private func setBlock(_ role: SourceRole, of handle: Handle?, _ block: UnsafeMutableRawPointer?) {
  withHold(source(handle)) { source in
    guard let block else { return set(role, of: source, nil) }
    if let item = Block(block).item?.takeUnretainedValue() {
      switch role {
      case .event: source.setEventHandler(handler: item)
      case .cancel: source.setCancelHandler(handler: item)
      case .registration: source.setRegistrationHandler(handler: item)
      }
      return
    }
    let held = HeldBlock(block)
    if held.block.hasHelpers { return set(role, of: source) { held.call() } }
    source.setHandler(role, toInert: { held.call() })
  }
}

private func setFunction(_ role: SourceRole, of handle: Handle?, _ work: ClientFunction?) {
  withHold(source(handle)) { $0.setHandler(role, toFunction: work) }
}

private func set(_ role: SourceRole, of source: DispatchSource, _ handler: DispatchSourceHandler?) {
  switch role {
  case .event: source.setEventHandler(handler: handler)
  case .cancel: source.setCancelHandler(handler: handler)
  case .registration: source.setRegistrationHandler(handler: handler)
  }
}

/// Sets the handler that runs after an event; NULL removes it.
@c(dispatch_source_set_event_handler)
public func dispatchSourceSetEventHandler(_ handle: Handle?, _ block: UnsafeMutableRawPointer?) {
  setBlock(.event, of: handle, block)
}

@c(dispatch_source_set_event_handler_f)
public func dispatchSourceSetEventHandlerFunction(_ handle: Handle?, _ work: ClientFunction?) {
  setFunction(.event, of: handle, work)
}

/// Sets the handler that runs once, last, after the source was cancelled.
@c(dispatch_source_set_cancel_handler)
public func dispatchSourceSetCancelHandler(_ handle: Handle?, _ block: UnsafeMutableRawPointer?) {
  setBlock(.cancel, of: handle, block)
}

@c(dispatch_source_set_cancel_handler_f)
public func dispatchSourceSetCancelHandlerFunction(_ handle: Handle?, _ work: ClientFunction?) {
  setFunction(.cancel, of: handle, work)
}

/// Sets a cancel handler; the program thereby promises to cancel the source.
@c(dispatch_source_set_mandatory_cancel_handler)
public func dispatchSourceSetMandatoryCancelHandler(
  _ handle: Handle?, _ block: UnsafeMutableRawPointer?
) {
  setBlock(.cancel, of: handle, block)
}

@c(dispatch_source_set_mandatory_cancel_handler_f)
public func dispatchSourceSetMandatoryCancelHandlerFunction(
  _ handle: Handle?, _ work: ClientFunction?
) {
  setFunction(.cancel, of: handle, work)
}

/// Sets the handler that runs once, first, when the source has started to monitor.
@c(dispatch_source_set_registration_handler)
public func dispatchSourceSetRegistrationHandler(
  _ handle: Handle?, _ block: UnsafeMutableRawPointer?
) {
  setBlock(.registration, of: handle, block)
}

@c(dispatch_source_set_registration_handler_f)
public func dispatchSourceSetRegistrationHandlerFunction(
  _ handle: Handle?, _ work: ClientFunction?
) {
  setFunction(.registration, of: handle, work)
}
