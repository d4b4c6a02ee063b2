// Room: QoS/DispatchQoS. The QoS classes of the public API; PackedQoS is their form in the engine.
// The constants are computed: `qos: .unspecified` then costs a caller in another module nothing.

/// The quality of service of work: how important it is, and so when and on which threads it runs.
///
/// - Source: `DispatchQoS` of the public reference; `sys/qos.h`.
public struct DispatchQoS: Equatable, Sendable {
  /// The QoS class.
  public let qosClass: QoSClass
  /// The priority within the class, from 0, the most important, down to -15.
  public let relativePriority: Int

  /// Creates a quality of service from a class and a priority within it.
  ///
  /// - Parameters:
  ///   - qosClass: the QoS class.
  ///   - relativePriority: 0 for the most important work of the class, down to -15. Another number
  ///     traps where the value is used for work or a queue, not here.
  /// - Source: `DispatchQoS.init(qosClass:relativePriority:)` of the public reference.
  @inlinable
  public init(qosClass: QoSClass, relativePriority: Int) {
    self.qosClass = qosClass
    self.relativePriority = relativePriority
  }

  /// Work that prepares or cleans up, and that no user waits for.
  @inlinable public static var background: DispatchQoS { DispatchQoS(.background) }
  /// Long work whose progress a user may watch.
  @inlinable public static var utility: DispatchQoS { DispatchQoS(.utility) }
  /// Work of ordinary importance: the class of work that is given none.
  @inlinable public static var `default`: DispatchQoS { DispatchQoS(.default) }
  /// Work that a user asked for and waits for.
  @inlinable public static var userInitiated: DispatchQoS { DispatchQoS(.userInitiated) }
  /// Work that keeps a user interface responsive.
  @inlinable public static var userInteractive: DispatchQoS { DispatchQoS(.userInteractive) }
  /// No class: the queue or the submitting code decides.
  @inlinable public static var unspecified: DispatchQoS { DispatchQoS(.unspecified) }

  @inlinable
  init(_ qosClass: QoSClass) { self.init(qosClass: qosClass, relativePriority: 0) }
}

extension DispatchQoS {
  /// A QoS class.
  ///
  /// - Source: `DispatchQoS.QoSClass` of the public reference; `sys/qos.h`.
  @frozen
  public enum QoSClass: Hashable, Sendable {
    /// Work that prepares or cleans up, and that no user waits for.
    case background
    /// Long work whose progress a user may watch.
    case utility
    /// Work of ordinary importance.
    case `default`
    /// Work that a user asked for and waits for.
    case userInitiated
    /// Work that keeps a user interface responsive.
    case userInteractive
    /// No class: the queue or the submitting code decides.
    case unspecified

    /// Creates the class with this number in C.
    ///
    /// - Parameters:
    ///   - rawValue: 0x21, 0x19, 0x15, 0x11, 0x09, or 0 for unspecified. For any other number the
    ///     result is `nil`.
    /// - Source: `qos_class_t` of `sys/qos.h`.
    public init?(rawValue: UInt32) {
      switch rawValue {
      case 0x21: self = .userInteractive
      case 0x19: self = .userInitiated
      case 0x15: self = .default
      case 0x11: self = .utility
      case 0x09: self = .background
      case 0x00: self = .unspecified
      default: return nil
      }
    }

    /// The number of this class in C.
    ///
    /// - Source: `qos_class_t` of `sys/qos.h`.
    public var rawValue: UInt32 {
      switch self {
      case .userInteractive: 0x21
      case .userInitiated: 0x19
      case .default: 0x15
      case .utility: 0x11
      case .background: 0x09
      case .unspecified: 0x00
      }
    }
  }
}

extension DispatchQoS {
  /// The quality of service of the calling code. `async` without a QoS passes its class on, with
  /// user-interactive lowered to user-initiated.
  ///
  /// Inside a work item this is the QoS of the item. On the main thread it is user-interactive, on
  /// other threads of the program unspecified. A boost on behalf of more urgent work that waits
  /// does not show. Call from any thread.
  ///
  /// - Returns: the class and the priority within it.
  /// - Source: `qos_class_self(3)` and `qos_class_main(3)` of Darwin, `sys/qos.h`. Apple's Swift
  ///   overlay has no name of its own for it; `current` follows `Thread.current` and
  ///   `OperationQueue.current`.
  public static var current: DispatchQoS {
    PackedQoS(rawValue: currentThread().pointee.qos).dispatchQoS
  }
}

extension DispatchQoS.QoSClass {
  /// The QoS class of the calling code: the class of `DispatchQoS.current`. Call from any thread.
  ///
  /// - Source: `qos_class_self(3)` of Darwin, `sys/qos.h`.
  public static var current: DispatchQoS.QoSClass { DispatchQoS.current.qosClass }
}

extension DispatchQoS.QoSClass {
  @usableFromInline
  init(_ band: Band) {
    switch band {
    case .unspecified: self = .unspecified
    case .background: self = .background
    case .utility: self = .utility
    case .default: self = .default
    case .userInitiated: self = .userInitiated
    case .userInteractive: self = .userInteractive
    }
  }

  @usableFromInline
  var band: Band {
    switch self {
    case .unspecified: .unspecified
    case .background: .background
    case .utility: .utility
    case .default: .default
    case .userInitiated: .userInitiated
    case .userInteractive: .userInteractive
    }
  }
}

extension PackedQoS {
  /// Packs `qos`. Traps on a relative priority outside 0 … -15, which is the client's mistake.
  @usableFromInline
  init(_ qos: DispatchQoS, enforced: Bool = false) {
    require(
      -15...0 ~= qos.relativePriority,
      """
      DispatchQoS(qosClass: .\(qos.qosClass), relativePriority: \(qos.relativePriority)) was used \
      for work or a queue. Use a relativePriority from 0 down to -15.
      """)
    self.init(
      band: qos.qosClass.band, relativePriority: qos.relativePriority, isEnforced: enforced)
  }

  /// The value in the form of the public API.
  @usableFromInline
  var dispatchQoS: DispatchQoS {
    DispatchQoS(qosClass: DispatchQoS.QoSClass(band), relativePriority: relativePriority)
  }
}
