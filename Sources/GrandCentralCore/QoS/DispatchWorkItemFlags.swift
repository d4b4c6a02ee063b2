// Room: QoS/DispatchWorkItemFlags. What is special about a piece of work. The bits are the C API's.

/// What is special about a piece of work.
///
/// - Source: `DispatchWorkItemFlags` of the public reference; `dispatch/block.h`.
@frozen
public struct DispatchWorkItemFlags: OptionSet, Sendable {
  public let rawValue: UInt

  @inlinable
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Runs alone on its private concurrent queue, after all that came before. No effect elsewhere.
  @inlinable public static var barrier: DispatchWorkItemFlags { Self(rawValue: 0x1) }
  /// Takes nothing from its surroundings, neither when made nor when submitted.
  @inlinable public static var detached: DispatchWorkItemFlags { Self(rawValue: 0x2) }
  /// Takes the QoS of where it is made, instead of where it is submitted.
  @inlinable public static var assignCurrentContext: DispatchWorkItemFlags { Self(rawValue: 0x4) }
  /// Takes no QoS from where it is submitted. Ignored where a QoS is given.
  @inlinable public static var noQoS: DispatchWorkItemFlags { Self(rawValue: 0x8) }
  /// Prefers the queue's QoS over its own: what asynchronous work does anyway.
  @inlinable public static var inheritQoS: DispatchWorkItemFlags { Self(rawValue: 0x10) }
  /// Prefers its own QoS over the queue's, unless that is higher. Outdoes `inheritQoS`.
  @inlinable public static var enforceQoS: DispatchWorkItemFlags { Self(rawValue: 0x20) }
}
