// Room: Primitives/Readiness. The conditions of a descriptor, in the numbers of epoll(7) and
// poll(2).

/// A set of conditions of a descriptor.
public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Data can be read. epoll(7) and poll(2) share these numbers.
  public static let readable = Readiness(rawValue: 0x001)
  /// Exceptional data can be read; proc(5) and sysfs use it for changes.
  public static let priority = Readiness(rawValue: 0x002)
  /// Data can be written.
  public static let writable = Readiness(rawValue: 0x004)
  /// An error. Reported without a request.
  public static let error = Readiness(rawValue: 0x008)
  /// Both directions have ended. Reported without a request.
  public static let hangUp = Readiness(rawValue: 0x010)
  /// The peer sends no more data.
  public static let readHangUp = Readiness(rawValue: 0x2000)

  /// What ends a direction, or both: it is reported until it is over.
  public static let ends: Readiness = [.readHangUp, .hangUp, .error]
}
