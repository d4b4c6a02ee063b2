// Room: Queues/DispatchQueue. The queue as users know it: a lane with a public face.

/// Executes work items serially or concurrently, on threads that the queue shares with all others.
///
/// A queue is a light object: creating one starts no thread. Submit work with `async` or `sync`, from any
/// thread. Work on a serial queue runs one item at a time, in the order of submission.
///
/// ```swift
/// let queue = DispatchQueue(label: "com.example.log")
/// queue.async { print("later") }
/// let answer = queue.sync { 42 }
/// ```
/// - Source: Apple, Dispatch, `DispatchQueue`.
public class DispatchQueue: _Lane, @unchecked Sendable {
  private let givenLabel: String

  /// The name given at creation.
  public final var label: String { laneLabel }

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - label: a name for debuggers and messages, by convention in reverse DNS.
  ///   - qos: the queue's own quality of service; unspecified: each item's counts.
  ///   - attributes: serial unless `.concurrent`; nothing runs before `activate()` with
  ///     `.initiallyInactive`.
  ///   - autoreleaseFrequency: accepted; there are no autorelease pools on Linux.
  ///   - target: the queue on which this one's work runs in the end; `nil`: the global queue of its QoS.
  public convenience init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
    autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
  ) {
    self.init(
      lane: label, isConcurrent: attributes.contains(.concurrent), qos: qos,
      isInactive: attributes.contains(.initiallyInactive), target: target)
  }

  init(
    lane label: String, isConcurrent: Bool, qos: DispatchQoS, isInactive: Bool,
    target: DispatchQueue?
  ) {
    givenLabel = label
    super.init(
      kind: isConcurrent ? .concurrent : .serial, qos: PackedQoS(qos),
      target: .named(target), isInactive: isInactive)
    withExtendedLifetime(target) {}
  }

  /// For the queues that the engine makes for itself.
  init(root label: String, kind: Kind, qos: PackedQoS) {
    givenLabel = label
    super.init(kind: kind, qos: qos, target: nil)
  }

  override var laneLabel: String { givenLabel }
  override var labelIdentity: LabelIdentity { LabelIdentity(givenLabel) }
  override var labelAsThreadName: (name: ThreadName, kept: String) {
    (ThreadName(givenLabel), givenLabel)
  }

  /// For C programs, who free it; `nil`: there is no memory.
  package func copyLabel() -> UnsafeMutablePointer<CChar>? { label.withCString { strdup($0) } }
  override final var defaultTarget: Lane { Runtime.shared.root(.unspecified) }

  /// The quality of service that the queue was given: its own, or the least that its items run at.
  public final var qos: DispatchQoS { ownQoS.dispatchQoS }

  /// The queue of the main thread.
  ///
  /// Its items run on the main thread: in `dispatchMain()`, or in a run loop that drains it.
  public class var main: DispatchQueue { Runtime.shared.main }

  /// The system's concurrent queue of a QoS class.
  ///
  /// Items run at once as CPUs allow. A barrier submitted here is ordinary work; suspending has no
  /// effect. Its label is the customary one, as `com.apple.root.default-qos`.
  public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
    let band = PackedQoS(DispatchQoS(qosClass: qos, relativePriority: 0)).band
    return Runtime.shared.root(band == .unspecified ? .default : band)
  }

  /// The system's concurrent queue of a legacy priority.
  @available(*, deprecated, message: "Use global(qos:) instead.")
  public class func global(priority: GlobalQueuePriority) -> DispatchQueue {
    global(qos: priority.qosClass)
  }
}

extension DispatchQueue {
  /// Properties of a new queue.
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Items run at the same time; without it, one at a time.
    public static let concurrent = Attributes(rawValue: 1 << 1)
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// The priorities that global queues had before there were QoS classes.
  public enum GlobalQueuePriority: Sendable {
    case high
    case `default`
    case low
    case background

    var qosClass: DispatchQoS.QoSClass {
      switch self {
      case .high: LegacyPriority.high.qosClass
      case .default: LegacyPriority.default.qosClass
      case .low: LegacyPriority.low.qosClass
      case .background: LegacyPriority.background.qosClass
      }
    }
  }

  /// How often a queue drains autorelease pools. Accepted for source compatibility; there are no such
  /// pools on Linux.
  public enum AutoreleaseFrequency: Sendable {
    case inherit
    case workItem
    case never
  }
}

/// A queue that runs one item at a time.
///
/// - Source: Apple, Dispatch, `DispatchSerialQueue`.
public final class DispatchSerialQueue: DispatchQueue, @unchecked Sendable {
  /// Properties of a new serial queue.
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// Creates a serial queue; the parameters are those of `DispatchQueue`'s initialiser.
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) {
    super.init(
      lane: label, isConcurrent: false, qos: qos,
      isInactive: attributes.contains(.initiallyInactive), target: target)
  }
}

/// A queue whose items run at the same time, except barriers.
///
/// - Source: Apple, Dispatch, `DispatchConcurrentQueue`.
public final class DispatchConcurrentQueue: DispatchQueue, @unchecked Sendable {
  /// Properties of a new concurrent queue.
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// Creates a concurrent queue; the parameters are those of `DispatchQueue`'s initialiser.
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) {
    super.init(
      lane: label, isConcurrent: true, qos: qos,
      isInactive: attributes.contains(.initiallyInactive), target: target)
  }
}
