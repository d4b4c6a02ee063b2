// Room: Queues/DispatchQueue+Make. The queues that programs make: serial and concurrent.
// DispatchQueue(label:) makes an object of one of the two subclasses, as on macOS, so a program may
// cast it. An initialiser of a class cannot return an object of a subclass. One that a protocol
// extension declares can, since it assigns `self`.
//
// It is there for all of `Self: DispatchQueue`, because an initialiser that a program adds to
// DispatchQueue calls it for the class's dynamic `Self`. So a subclass has it too. Where a subclass
// is named, _NamedQueue declares the same initialiser, and the compiler refuses the call as
// ambiguous; the subclass's own initialisers come before both. Only a generic function can reach it
// with a subclass, and then it makes what that class is or stops the process.

/// What lets `DispatchQueue(label:)` choose a subclass. Programs do not use it.
public protocol _QueueMaking {}

extension DispatchQueue: _QueueMaking {}

extension _QueueMaking where Self: DispatchQueue {
  /// Creates a queue: a `DispatchSerialQueue`, or a `DispatchConcurrentQueue`.
  ///
  /// A generic function that calls this for a type of queues which the attributes do not make stops
  /// the process.
  ///
  /// - Parameters:
  ///   - label: a name for debuggers and messages, by convention in reverse DNS.
  ///   - qos: the queue's own quality of service; unspecified: the QoS of each item counts. A
  ///     relative priority outside 0 … -15 stops the process.
  ///   - attributes: serial unless `.concurrent`; with `.initiallyInactive` nothing runs before
  ///     `activate()`.
  ///   - autoreleaseFrequency: accepted and ignored; there are no autorelease pools on Linux.
  ///   - target: the queue that runs this queue's work; `nil`: a global queue that takes each
  ///     item at its own QoS.
  /// - Source: Apple, Dispatch,
  ///   `DispatchQueue.init(label:qos:attributes:autoreleaseFrequency:target:)`.
  @_disfavoredOverload @inlinable
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: DispatchQueue.Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) {
    let made = DispatchQueue.made(label: label, qos: qos, attributes: attributes, target: target)
    // SAFETY: an object of a subclass of DispatchQueue, when Self is DispatchQueue.
    self = Self.self == DispatchQueue.self ? unsafeDowncast(made, to: Self.self) : made.fitting()
  }
}

/// Keeps `init(label:qos:attributes:autoreleaseFrequency:target:)` of `DispatchQueue` from being
/// called for a subclass. Programs do not use it.
public protocol _NamedQueue: AnyObject {}

extension DispatchSerialQueue: _NamedQueue {}
extension DispatchConcurrentQueue: _NamedQueue {}
extension DispatchWorkloop: _NamedQueue {}

// Without `where Self: DispatchQueue`: it would be the more specialised of the two, and win.
extension _NamedQueue {
  /// Cannot be called: it makes the call of `DispatchQueue`'s initialiser ambiguous.
  ///
  /// - Parameters:
  ///   - label: see the class's own initialiser.
  ///   - qos: see there.
  ///   - attributes: those of the class are of another type.
  ///   - autoreleaseFrequency: see there.
  ///   - target: see there.
  /// - Source: Apple, Dispatch, `DispatchSerialQueue`, which has no such initialiser.
  @_disfavoredOverload
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: DispatchQueue.Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) {
    DispatchQueue.failToMake(Self.self)
  }
}

extension DispatchQueue {
  @usableFromInline
  static func made(
    label: String, qos: DispatchQoS, attributes: Attributes, target: DispatchQueue?
  ) -> DispatchQueue {
    let isInactive = attributes.contains(.initiallyInactive)
    return attributes.contains(.concurrent)
      ? DispatchConcurrentQueue(
        label: label, qos: qos, attributes: isInactive ? .initiallyInactive : [],
        target: target)
      : DispatchSerialQueue(
        label: label, qos: qos, attributes: isInactive ? .initiallyInactive : [],
        target: target)
  }

  /// This queue as a `Queue`, the class for which a generic function has made it.
  @usableFromInline @inline(never)
  final func fitting<Queue: DispatchQueue>() -> Queue {
    guard let queue = self as? Queue else { Self.failToMake(Queue.self) }
    return queue
  }

  static func failToMake(_ type: Any.Type) -> Never {
    clientFault(
      """
      DispatchQueue's init(label:qos:attributes:autoreleaseFrequency:target:) cannot make a \
      \(type). Call the initialiser that \(type) declares.
      """)
  }
}

/// A queue that runs one item at a time.
///
/// - Source: Apple, Dispatch, `DispatchSerialQueue`.
public class DispatchSerialQueue: DispatchQueue, @unchecked Sendable {
  /// Properties of a new serial queue.
  public struct Attributes: OptionSet, Sendable {
    /// The attributes as bits.
    public let rawValue: UInt64
    /// Creates attributes from their bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// Creates a serial queue.
  ///
  /// - Parameters:
  ///   - label: a name for debuggers and messages, by convention in reverse DNS.
  ///   - qos: the queue's own quality of service; unspecified: the QoS of each item counts. A
  ///     relative priority outside 0 … -15 stops the process.
  ///   - attributes: with `.initiallyInactive` nothing runs before `activate()`.
  ///   - autoreleaseFrequency: accepted and ignored; there are no autorelease pools on Linux.
  ///   - target: the queue that runs this queue's work; `nil`: a global queue that takes each
  ///     item at its own QoS.
  /// - Source: Apple, Dispatch, `DispatchSerialQueue`.
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
    autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) {
    super.init(
      lane: label, isConcurrent: false, qos: qos,
      isInactive: attributes.contains(.initiallyInactive), target: target)
  }

  /// Creates one of the engine's own queues.
  override init(root label: String, kind: Kind, qos: PackedQoS) {
    super.init(root: label, kind: kind, qos: qos)
  }
}

/// A queue whose items run at the same time, except barriers.
///
/// - Source: Apple, Dispatch, `DispatchConcurrentQueue`.
public final class DispatchConcurrentQueue: DispatchQueue, @unchecked Sendable {
  /// Properties of a new concurrent queue.
  public struct Attributes: OptionSet, Sendable {
    /// The attributes as bits.
    public let rawValue: UInt64
    /// Creates attributes from their bits.
    ///
    /// - Parameter rawValue: the bits; unknown bits have no effect.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Nothing runs before `activate()`.
    public static let initiallyInactive = Attributes(rawValue: 1 << 2)
  }

  /// Creates a concurrent queue.
  ///
  /// - Parameters:
  ///   - label: a name for debuggers and messages, by convention in reverse DNS.
  ///   - qos: the queue's own quality of service; unspecified: the QoS of each item counts. A
  ///     relative priority outside 0 … -15 stops the process.
  ///   - attributes: with `.initiallyInactive` nothing runs before `activate()`.
  ///   - autoreleaseFrequency: accepted and ignored; there are no autorelease pools on Linux.
  ///   - target: the queue that runs this queue's work; `nil`: a global queue that takes each
  ///     item at its own QoS.
  /// - Source: Apple, Dispatch, `DispatchConcurrentQueue`.
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
