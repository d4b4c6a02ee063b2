// Room: Sources/SourceHandler. What a source calls, and how: a closure with QoS and flags, a C function, or a work item.

/// A closure that a source calls on its queue.
public typealias DispatchSourceHandler = () -> Void

enum SourceHandler {
  case closure(() -> Void, qos: PackedQoS)
  /// A function of a C program, called with the context that the source has at that moment.
  case function(WorkFunction, qos: PackedQoS)
  case item(DispatchWorkItem)

  init(
    _ work: @escaping () -> Void, qos: DispatchQoS, flags: DispatchWorkItemFlags
  ) {
    self = .closure(work, qos: Self.captured(PackedQoS(qos), flags: flags))
  }

  init(_ work: @escaping WorkFunction) {
    self = .function(work, qos: Self.captured(.unspecified, flags: []))
  }

  private static func captured(
    _ explicit: PackedQoS, flags: DispatchWorkItemFlags
  ) -> PackedQoS {
    QoSPropagation.captured(
      from: PackedQoS(rawValue: currentThread().pointee.qos), explicit: explicit, flags: flags)
  }

  /// What an event brings to the queue, as the handler's item.
  var qos: PackedQoS {
    switch self {
    case .closure(_, let qos), .function(_, let qos): qos
    case .item(let item): item.traits(from: currentThread()).qos
    }
  }

  /// A node that lets go of what the handler keeps; `nil` where that is nothing: a function, or a closure that has
  /// captured nothing.
  func remains(on thread: ThreadContext) -> WorkNode? {
    switch self {
    case .function: return nil
    case .closure(let work, _):
      return HeldClosure(work: work).hasContext ? .remains(work, on: thread) : nil
    case .item(let item): return .remains(item, on: thread)
    }
  }

  /// Calls it as an item of `source`, whose lane the thread holds: at the source's class, or else
  /// at what its targets hand down, or else at the handler's own.
  func run(of source: DispatchSource, on thread: ThreadContext) {
    let outer = thread.pointee.qos
    let own = source.effectiveQoS(WorkTraits(qos: qos))
    if own.band != .unspecified { thread.pointee.qos = own.rawValue }
    switch self {
    case .closure(let work, _): grandCentralClientCallout(work)
    case .function(let work, _): grandCentralClientCallout { work(source.context) }
    case .item(let item): item.performSubmitted(on: thread)
    }
    thread.pointee.qos = outer
  }
}

/// The handlers that most sources do not have, or have for a moment. Guarded by their source's lock.
final class RareHandlers: @unchecked Sendable {
  @Cell var cancel: SourceHandler?
  @Cell var registration: SourceHandler?
}

package enum SourceRole { case event, cancel, registration }
