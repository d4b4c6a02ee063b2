// Room: QoS/PackedQoS. A quality of service as one 32-bit value, for nodes and threads. Lanes keep
// the lower half, which holds all of it.
//   7…0 band │ 11…8 relative priority, as its magnitude 0…15 │ 12 enforced │ 13 floor, for queues
// Bands are the QoS classes in ascending order of urgency; 0 means unspecified.

/// The QoS classes as small numbers, in ascending order of urgency.
@usableFromInline
enum Band: UInt8, CaseIterable, Comparable, Sendable {
  case unspecified = 0
  case background, utility, `default`, userInitiated, userInteractive

  @inlinable
  static func < (left: Band, right: Band) -> Bool { left.rawValue < right.rawValue }

  /// The band for comparisons: unspecified counts as default.
  @inlinable @inline(__always)
  var rank: Band { self == .unspecified ? .default : self }
}

@usableFromInline
struct PackedQoS: RawRepresentable, Hashable, Sendable {
  @usableFromInline let rawValue: UInt32
  @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

  @usableFromInline static let unspecified = PackedQoS(rawValue: 0)

  init(band: Band, relativePriority: Int = 0, isEnforced: Bool = false) {
    rawValue =
      UInt32(band.rawValue) | UInt32(min(15, relativePriority.magnitude)) << 8
      | (isEnforced ? 1 << 12 : 0)
  }

  init(halfWord: UInt16) { self.init(rawValue: UInt32(halfWord)) }
  var halfWord: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

  @inlinable @inline(__always)
  var band: Band { Band(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .unspecified }
  /// The band for comparisons: see `Band`.
  @inlinable @inline(__always)
  var rank: Band { band.rank }
  /// From 0, the most urgent of the band, down to -15.
  var relativePriority: Int { -Int(rawValue >> 8 & 0xf) }
  @inlinable
  var isEnforced: Bool { rawValue >> 12 & 1 == 1 }
  /// Whether this is a queue's floor, the minimum for its items, rather than its class.
  var isFloor: Bool { rawValue >> 13 & 1 == 1 }
}
