// Room: Sources/SourceHandler. What a source calls, and how: a closure with QoS and flags, or a work item.

/// A closure that a source calls on its queue.
public typealias DispatchSourceHandler = () -> Void

enum SourceHandler {
  case closure(() -> Void, qos: PackedQoS)
  case item(DispatchWorkItem)

  init(
    _ work: @escaping () -> Void, qos: DispatchQoS, flags: DispatchWorkItemFlags
  ) {
    let captured = QoSPropagation.captured(
      from: PackedQoS(rawValue: currentThread().pointee.qos), explicit: PackedQoS(qos),
      flags: flags)
    self = .closure(work, qos: captured)
  }

  /// Calls it as an item of the queue that the thread is on.
  func run(on thread: ThreadContext) {
    switch self {
    case .closure(let work, let qos):
      let outer = thread.pointee.qos
      thread.pointee.qos =
        QoSPropagation.performed(item: qos, on: PackedQoS(rawValue: outer)).rawValue
      grandCentralClientCallout(work)
      thread.pointee.qos = outer
    case .item(let item): item.perform()
    }
  }
}

/// A source's handlers. Set from any thread; a new one counts from the next call on.
final class SourceHandlers: @unchecked Sendable {
  enum Role { case event, cancel, registration }

  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var event: SourceHandler?
  @Cell private var cancel: SourceHandler?
  @Cell private var registration: SourceHandler?
  /// The source has been cancelled and its cancel handler taken: nothing is called any more.
  @Cell private var isOver = false

  /// Sets, or with `nil` takes away. What was there before is let go of outside the lock.
  func set(_ role: Role, to handler: SourceHandler?) {
    var old = handler
    lock.withLock {
      if isOver { return }
      switch role {
      case .event: swap(&event, &old)
      case .cancel: swap(&cancel, &old)
      case .registration: swap(&registration, &old)
      }
    }
  }

  var forEvent: SourceHandler? { lock.withLock { event } }

  /// Called once at most.
  func takeRegistration() -> SourceHandler? {
    lock.withLock {
      defer { registration = nil }
      return registration
    }
  }

  /// The cancel handler, and the end of all of them.
  func end() -> (cancel: SourceHandler?, others: [SourceHandler]) {
    lock.withLock {
      let taken = (cancel, [event, registration].compactMap { $0 })
      isOver = true
      event = nil
      cancel = nil
      registration = nil
      return taken
    }
  }
}
