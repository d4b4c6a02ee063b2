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

  /// What an event brings to the queue, as the handler's item.
  var qos: PackedQoS {
    switch self {
    case .closure(_, let qos): qos
    case .item(let item): item.traits(from: currentThread()).qos
    }
  }

  /// Calls it as an item of the queue that the thread is on, whose own QoS is `queue`.
  func run(on thread: ThreadContext, queue: PackedQoS) {
    switch self {
    case .closure(let work, let qos):
      let outer = thread.pointee.qos
      let item = QoSPropagation.performed(item: qos, on: PackedQoS(rawValue: outer))
      thread.pointee.qos =
        queue == .unspecified
        ? item.rawValue : QoSPropagation.effective(item: qos, queue: queue).rawValue
      grandCentralClientCallout(work)
      thread.pointee.qos = outer
    case .item(let item): item.perform()
    }
  }
}

/// The handlers that most sources do not have, or have for a moment. Guarded by their source's lock.
final class RareHandlers: @unchecked Sendable {
  @Cell var cancel: SourceHandler?
  @Cell var registration: SourceHandler?
}

enum SourceRole { case event, cancel, registration }
