// Room: Primitives/Readiness. What a descriptor can be ready for, in the numbers of epoll(7) and poll(2).

/// What a descriptor is ready for.
public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  // epoll(7) and poll(2) have the same numbers.
  public static let readable = Readiness(rawValue: 0x001)
  /// Something out of the ordinary is to be read: what proc(5) and sysfs say by it.
  public static let priority = Readiness(rawValue: 0x002)
  public static let writable = Readiness(rawValue: 0x004)
  /// Comes unasked.
  public static let error = Readiness(rawValue: 0x008)
  /// Comes unasked: both directions are over.
  public static let hangUp = Readiness(rawValue: 0x010)
  /// The other side sends no more.
  public static let readHangUp = Readiness(rawValue: 0x2000)
}
