// Room: QoS/PackedQoS. A quality of service as one 32-bit value, as nodes and threads carry it; lanes keep the lower half of it,
// which says all.
//   7…0 band │ 11…8 relative priority, as its magnitude 0…15 │ 12 enforced │ 13 floor, of queues only
// Bands are the QoS classes in ascending order of urgency; 0 means unspecified.

/// The QoS classes as small numbers, in ascending order of urgency.
@usableFromInline
enum Band: UInt8, CaseIterable, Comparable, Sendable {
  case unspecified = 0
  case background, utility, `default`, userInitiated, userInteractive

  @inlinable
  static func < (left: Band, right: Band) -> Bool { left.rawValue < right.rawValue }

  /// Where work of this band stands among others: what has no class is treated as default.
  @inlinable
  var place: Band { self == .unspecified ? .default : self }
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

  @inlinable
  var band: Band { Band(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .unspecified }
  /// Where it stands among others' bands.
  @inlinable
  var place: Band { band.place }
  /// 0 … -15, 0 being the most urgent of its band.
  var relativePriority: Int { -Int(rawValue >> 8 & 0xf) }
  @inlinable
  var isEnforced: Bool { rawValue >> 12 & 1 == 1 }
  /// A queue's that is not its own, but the least that its items run at.
  var isFloor: Bool { rawValue >> 13 & 1 == 1 }
}
