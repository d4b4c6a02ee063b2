// Room: QoS/DispatchQoS. The classes as users write them; PackedQoS is how the engine carries them.
// The constants are computed, so that `qos: .unspecified` costs a caller in another module nothing.

/// How important work is, and so how soon and on what it should run.
///
/// - Source: `DispatchQoS` of the public reference; `sys/qos.h`.
public struct DispatchQoS: Equatable, Sendable {
  /// The class.
  public let qosClass: QoSClass
  /// The place within the class, from 0 down to -15.
  public let relativePriority: Int

  /// Describes a class and a place in it.
  ///
  /// - Parameters:
  ///   - qosClass: the class.
  ///   - relativePriority: 0 for the most important work of the class, down to -15. Another number
  ///     is reported where the value is used, not here.
  @inlinable
  public init(qosClass: QoSClass, relativePriority: Int) {
    self.qosClass = qosClass
    self.relativePriority = relativePriority
  }

  /// Work that prepares or cleans up, and that nobody waits for.
  @inlinable public static var background: DispatchQoS { DispatchQoS(.background) }
  /// Long work whose progress a user may watch.
  @inlinable public static var utility: DispatchQoS { DispatchQoS(.utility) }
  /// What work is when nobody says.
  @inlinable public static var `default`: DispatchQoS { DispatchQoS(.default) }
  /// Work that a user asked for and waits for.
  @inlinable public static var userInitiated: DispatchQoS { DispatchQoS(.userInitiated) }
  /// Work that keeps an interface moving.
  @inlinable public static var userInteractive: DispatchQoS { DispatchQoS(.userInteractive) }
  /// No class of its own: the surroundings decide.
  @inlinable public static var unspecified: DispatchQoS { DispatchQoS(.unspecified) }

  @inlinable
  init(_ qosClass: QoSClass) { self.init(qosClass: qosClass, relativePriority: 0) }
}

extension DispatchQoS {
  /// The classes of work.
  @frozen
  public enum QoSClass: Hashable, Sendable {
    case background
    case utility
    case `default`
    case userInitiated
    case userInteractive
    case unspecified

    /// The class of this number in C, if there is one.
    ///
    /// - Source: `sys/qos.h`: 0x21, 0x19, 0x15, 0x11, 0x09, and 0 for unspecified.
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
  /// The quality of service of the calling code: what `async` passes on, before user-interactive is lowered.
  ///
  /// Inside a work item this is what the item runs at; on the main thread user-interactive; on other threads
  /// of the program unspecified. That more urgent work waits, and the item is helped along for it, does not
  /// show. Call from any thread.
  ///
  /// - Returns: the class and the place in it.
  /// - Source: `qos_class_self(3)` and `qos_class_main(3)` of Darwin, `sys/qos.h`. Apple's Swift overlay has no
  ///   name of its own for it; `current` follows `Thread.current` and `OperationQueue.current`.
  public static var current: DispatchQoS {
    PackedQoS(rawValue: currentThread().pointee.qos).dispatchQoS
  }
}

extension DispatchQoS.QoSClass {
  /// The QoS class of the calling code: the class of `DispatchQoS.current`.
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
  /// Packs `qos`. A relative priority outside 0 … -15 is the client's mistake.
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

  /// As users see it.
  @usableFromInline
  var dispatchQoS: DispatchQoS {
    DispatchQoS(qosClass: DispatchQoS.QoSClass(band), relativePriority: relativePriority)
  }
}
