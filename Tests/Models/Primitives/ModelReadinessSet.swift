// Room: Primitives/ReadinessSet, the models' side. No model comes to it yet.
import CLinux

public struct Readiness: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let readable = Readiness(rawValue: 0x001)
  public static let priority = Readiness(rawValue: 0x002)
  public static let writable = Readiness(rawValue: 0x004)
  public static let error = Readiness(rawValue: 0x008)
  public static let hangUp = Readiness(rawValue: 0x010)
  public static let readHangUp = Readiness(rawValue: 0x2000)
}

public enum ReadinessSet {
  public enum Mode: Sendable { case once, edge }
  public typealias Event = gc_readiness
  public static var batch: Int { 1 }

  public static func make() -> Int32 { -1 }
  public static func add(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 { 0 }
  public static func change(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 { 0 }
  public static func remove(_ set: Int32, _ descriptor: Int32) -> Int32 { 0 }
  public static func wait(
    _ set: Int32, into events: UnsafeMutablePointer<Event>, milliseconds: Int32?
  ) -> Int { 0 }
  public static func now(_ descriptor: Int32, _ interest: Readiness) -> Readiness { [] }
}

public enum Alarm {
  public static func make(isWall: Bool) -> Int32 { -1 }
  public static func set(_ alarm: Int32, at nanoseconds: UInt64) {}
}
