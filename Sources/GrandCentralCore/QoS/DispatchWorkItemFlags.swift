// Room: QoS/DispatchWorkItemFlags. Options of a piece of work. The bits are the C API's.

/// Options of a piece of work: whether it is a barrier, and which QoS it takes.
///
/// - Source: `DispatchWorkItemFlags` of the public reference; `dispatch/block.h`.
@frozen
public struct DispatchWorkItemFlags: OptionSet, Sendable {
  /// The bits of the options, as in `dispatch_block_flags_t` of C.
  public let rawValue: UInt

  /// Creates a set of options from their bits.
  ///
  /// - Parameters:
  ///   - rawValue: the bits, as in `dispatch_block_flags_t` of C.
  /// - Source: `OptionSet`; `dispatch/block.h`.
  @inlinable
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Runs alone on a concurrent queue of the program's, after all earlier work. No effect on other
  /// queues.
  @inlinable public static var barrier: DispatchWorkItemFlags { Self(rawValue: 0x1) }
  /// Takes no QoS or other context from the code that creates or submits it.
  @inlinable public static var detached: DispatchWorkItemFlags { Self(rawValue: 0x2) }
  /// Takes the QoS of the code that creates it, instead of the code that submits it.
  @inlinable public static var assignCurrentContext: DispatchWorkItemFlags { Self(rawValue: 0x4) }
  /// Takes no QoS from the code that submits it. No effect on work that is given a QoS.
  @inlinable public static var noQoS: DispatchWorkItemFlags { Self(rawValue: 0x8) }
  /// Prefers the queue's QoS over its own, which is the default for asynchronous work.
  @inlinable public static var inheritQoS: DispatchWorkItemFlags { Self(rawValue: 0x10) }
  /// Prefers its own QoS over the queue's, unless the queue's is higher. Overrides `inheritQoS`.
  @inlinable public static var enforceQoS: DispatchWorkItemFlags { Self(rawValue: 0x20) }
}
