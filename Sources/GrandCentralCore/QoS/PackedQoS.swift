// Room: QoS/PackedQoS. A quality of service as one 32-bit value, as nodes and threads carry it.
//   7…0 band │ 15…8 relative priority, as its magnitude 0…15 │ 16 enforced
//   17 of a queue: a queue's own, which a target's does not lower
// Bands are the QoS classes in ascending order of urgency; 0 means unspecified.

/// The QoS classes as small numbers, in ascending order of urgency.
@usableFromInline
enum Band: UInt8, CaseIterable, Comparable, Sendable {
  case unspecified = 0
  case background, utility, `default`, userInitiated, userInteractive

  @inlinable
  static func < (left: Band, right: Band) -> Bool { left.rawValue < right.rawValue }
}

@usableFromInline
struct PackedQoS: RawRepresentable, Hashable, Sendable {
  @usableFromInline let rawValue: UInt32
  @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

  @usableFromInline static let unspecified = PackedQoS(rawValue: 0)

  init(band: Band, relativePriority: Int = 0, isEnforced: Bool = false) {
    rawValue =
      UInt32(band.rawValue) | UInt32(min(15, relativePriority.magnitude)) << 8
      | (isEnforced ? 1 << 16 : 0)
  }

  @inlinable
  var band: Band { Band(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .unspecified }
  /// 0 … -15, 0 being the most urgent of its band.
  var relativePriority: Int { -Int(rawValue >> 8 & 0xf) }
  @inlinable
  var isEnforced: Bool { rawValue >> 16 & 1 == 1 }
  var isOfQueue: Bool { rawValue >> 17 & 1 == 1 }
  var asOfQueue: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 17) }
}
