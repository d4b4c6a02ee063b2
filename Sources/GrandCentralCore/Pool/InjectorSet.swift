// Room: Pool/InjectorSet. A set of injectors, and the pool's word of hints about them.

/// Injectors, a bit for each by `InjectorKey.index`: by band, those of items in the low byte and
/// those of lanes in the next.
struct InjectorSet: OptionSet {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }
  init(_ key: InjectorKey) { rawValue = 1 << UInt32(key.index) }

  /// Two kinds in five bands.
  static var all: InjectorSet { InjectorSet(rawValue: 0b0011_1110_0011_1110) }

  func contains(_ key: InjectorKey) -> Bool { contains(InjectorSet(key)) }
  var hasLanes: Bool { rawValue >> 8 != 0 }
  /// Those of items, and those of lanes.
  var items: InjectorSet { InjectorSet(rawValue: rawValue & 0xff) }
  var lanes: InjectorSet { InjectorSet(rawValue: rawValue & 0xff00) }
  /// The bands of the set, a bit for each, of either kind.
  var bands: UInt8 { UInt8(truncatingIfNeeded: rawValue | rawValue >> 8) }
  /// The highest band of either kind; unspecified if the set is empty.
  var highestBand: Band { Self.highest(bands) }
  func highestBand(of kind: WorkKind) -> Band {
    Self.highest(UInt8(truncatingIfNeeded: rawValue >> UInt32(8 * kind.rawValue)))
  }

  /// The highest band below `limit` of either kind.
  func highestBand(below limit: Band) -> Band {
    Self.highest(bands & (1 << limit.rawValue - 1))
  }

  /// The injectors of `lowest` and higher bands.
  func from(_ lowest: Band) -> InjectorSet {
    let bands: UInt32 = 0xff & ~(1 << lowest.rawValue - 1)
    return intersection(InjectorSet(rawValue: bands | bands << 8))
  }

  /// The injectors of one band.
  func only(_ band: Band) -> InjectorSet {
    intersection(InjectorSet(rawValue: 1 << band.rawValue | 1 << (band.rawValue + 8)))
  }

  /// The indices of the injectors.
  var indices: some Sequence<Int> {
    (0..<InjectorKey.count).lazy.filter { rawValue >> UInt32($0) & 1 != 0 }
  }

  @inline(__always)
  static func highest(_ bands: UInt8) -> Band {
    bands == 0 ? .unspecified : Band(rawValue: UInt8(7 - bands.leadingZeroBitCount)) ?? .unspecified
  }
}

/// `Pool.injectorHints` as a thread has read it.
///   31…16 overdue: see InjectorTurn │ 15…0 waiting: may hold work
struct InjectorHints {
  let rawValue: UInt32

  init(_ word: UInt32) { rawValue = word }

  static var overdueShift: UInt32 { 16 }

  var isEmpty: Bool { rawValue == 0 }
  var waiting: InjectorSet { InjectorSet(rawValue: rawValue & (1 << Self.overdueShift - 1)) }
  var overdue: InjectorSet { InjectorSet(rawValue: rawValue >> Self.overdueShift) }
}
