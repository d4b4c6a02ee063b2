// Room: Queues/DispatchQueue. The public face of a lane.

/// Executes work items serially or concurrently, on threads that all queues share.
///
/// A queue is a light object: creating one starts no thread. Submit work with `async` or `sync`,
/// from any thread. A serial queue runs one item at a time, in the order of submission.
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

  init(
    lane label: String, isConcurrent: Bool, qos: DispatchQoS, isInactive: Bool,
    target: DispatchQueue?, ordersByBand: Bool = false
  ) {
    givenLabel = label
    super.init(
      kind: isConcurrent ? .concurrent : .serial, qos: PackedQoS(qos),
      target: .named(target), isInactive: isInactive, ordersByBand: ordersByBand)
    withExtendedLifetime(target) {}
  }

  /// Creates one of the engine's own queues.
  init(root label: String, kind: Kind, qos: PackedQoS) {
    givenLabel = label
    super.init(kind: kind, qos: qos, target: nil)
  }

  deinit { releaseSpecifics() }

  override var laneLabel: String { givenLabel }
  override var labelIdentity: LabelIdentity { LabelIdentity(givenLabel) }
  override var labelAsThreadName: (name: ThreadName, kept: String) {
    (ThreadName(givenLabel), givenLabel)
  }

  /// Copies the label for a C program, which frees it. `nil`: out of memory.
  package func copyLabel() -> UnsafeMutablePointer<CChar>? { label.withCString { strdup($0) } }
  override final var defaultTarget: Lane { Runtime.shared.root(.unspecified) }

  /// The QoS given to the queue: its own, or the lowest at which its items run.
  public final var qos: DispatchQoS { ownQoS.dispatchQoS }

  /// The queue of the main thread.
  ///
  /// Its items run on the main thread: in `dispatchMain()`, or in a run loop that drains it.
  ///
  /// - Source: Apple, Dispatch, `DispatchQueue.main`.
  public class var main: DispatchQueue { Runtime.shared.main }

  /// Returns the system's concurrent queue of a QoS class.
  ///
  /// Items run at once as CPUs allow. A barrier submitted here is ordinary work; suspending has no
  /// effect. The label is the customary one, such as `com.apple.root.default-qos`. Call from any
  /// thread.
  ///
  /// - Parameter qos: the class; unspecified stands for default.
  /// - Returns: the queue, the same at each call.
  /// - Source: Apple, Dispatch, `DispatchQueue.global(qos:)`.
  public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
    let band = PackedQoS(DispatchQoS(qosClass: qos, relativePriority: 0)).band
    return Runtime.shared.root(band == .unspecified ? .default : band)
  }

  /// Returns the system's concurrent queue of a legacy priority.
  ///
  /// - Parameter priority: the priority, which stands for a QoS class.
  /// - Returns: the queue, the same at each call.
  /// - Source: Apple, Dispatch, `DispatchQueue.global(priority:)`.
  public class func global(priority: GlobalQueuePriority) -> DispatchQueue {
    global(qos: priority.qosClass)
  }
}

extension DispatchQueue {
  /// Properties of a new queue.
  public struct Attributes: OptionSet, Sendable {
    /// The attributes as bits.
    public let rawValue: UInt64
    /// Creates attributes from their bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Items run at the same time. Without it, one item runs at a time.
    public static let concurrent = Attributes(rawValue: 1 << 1)
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// The priorities of global queues from before QoS classes.
  public enum GlobalQueuePriority: Sendable {
    /// The priority of class user-initiated.
    case high
    /// The priority of class default.
    case `default`
    /// The priority of class utility.
    case low
    /// The priority of class background.
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

  /// How often a queue drains autorelease pools. Accepted for source compatibility and ignored:
  /// there are no such pools on Linux.
  public enum AutoreleaseFrequency: Sendable {
    /// As the target queue does.
    case inherit
    /// Around each work item.
    case workItem
    /// Never.
    case never
  }
}
