// Room: Sources/SourceHandler. A handler of a source: a closure with QoS, a C function, or a work
// item.

/// A closure that a source calls on its queue.
///
/// - Source: Apple, Dispatch, `DispatchSourceHandler`.
public typealias DispatchSourceHandler = () -> Void

/// A work item that a handler holds as a submission does.
final class HeldItem: Sendable {
  let item: DispatchWorkItem

  init(_ item: DispatchWorkItem) {
    self.item = item
    _ = item.retainSubmitted()
  }

  deinit { DispatchWorkItem.releaseSubmitted(.passUnretained(item)) }
}

enum SourceHandler {
  case closure(() -> Void, qos: PackedQoS)
  /// A closure whose release calls nothing of the program.
  case inert(() -> Void, qos: PackedQoS)
  /// A C program's function, called with the context that the source has at that moment.
  case function(WorkFunction, qos: PackedQoS)
  case item(HeldItem)

  init(
    _ work: @escaping () -> Void, qos: DispatchQoS, flags: DispatchWorkItemFlags
  ) {
    self = .closure(work, qos: Self.captured(PackedQoS(qos), flags: flags))
  }

  init(inert work: @escaping () -> Void) {
    self = .inert(work, qos: Self.captured(.unspecified, flags: []))
  }

  init(_ item: DispatchWorkItem) { self = .item(HeldItem(item)) }

  init(_ work: @escaping WorkFunction) {
    self = .function(work, qos: Self.captured(.unspecified, flags: []))
  }

  private static func captured(
    _ explicit: PackedQoS, flags: DispatchWorkItemFlags
  ) -> PackedQoS {
    QoSPropagation.captured(
      from: PackedQoS(rawValue: currentThread().pointee.qos), explicit: explicit, flags: flags)
  }

  /// The QoS that an event has on the queue.
  var qos: PackedQoS {
    switch self {
    case .closure(_, let qos), .inert(_, let qos), .function(_, let qos): qos
    case .item(let held): held.item.traits(from: currentThread()).qos
    }
  }

  /// Returns a node that releases what the handler captures on the queue; `nil` if any thread may
  /// release it.
  func disposalNode(on thread: ThreadContext) -> WorkNode? {
    switch self {
    case .function, .inert: return nil
    case .closure(let work, _):
      return HeldClosure(work: work).hasContext ? .disposalNode(work, on: thread) : nil
    case .item(let held): return .disposalNode(held.item, on: thread)
    }
  }

  /// Calls the handler as an item of `source`, whose lane the thread holds. Its class is the
  /// source's, else the one that the source's targets hand down, else the handler's own.
  func run(of source: DispatchSource, on thread: ThreadContext) {
    let outer = thread.pointee.qos
    let own = source.effectiveQoS(WorkTraits(qos: qos))
    if own.band != .unspecified { thread.pointee.qos = own.rawValue }
    switch self {
    case .closure(let work, _), .inert(let work, _): grandCentralClientCallout(work)
    case .function(let work, _): grandCentralFunctionCallout(work, source.context)
    case .item(let held): held.item.performSubmitted(on: thread)
    }
    thread.pointee.qos = outer
  }
}

/// Handlers that most sources do not have, or only for a moment. Guarded by the source's lock.
final class RareHandlers: @unchecked Sendable {
  @Cell var cancel: SourceHandler?
  @Cell var registration: SourceHandler?
  /// The successor of an adopted event handler; `nil` may mean that it has none.
  @Cell var replacement: SourceHandler?
}

package enum SourceRole { case event, cancel, registration }
