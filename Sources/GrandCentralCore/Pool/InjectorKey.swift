// Room: Pool/InjectorKey. The name of an injector.

/// The kind and the band of an injector.
struct InjectorKey: Equatable {
  let kind: WorkKind
  let band: Band

  /// Its index among the injectors. Its bit in `sourcesWaiting` is `bit`.
  var index: Int { kind.rawValue * 8 + Int(band.rawValue) }
  static var count: Int { 16 }
  var bit: UInt32 { 1 << UInt32(index) }
  /// All bits that exist: two kinds in five bands.
  static var all: UInt32 { 0b0011_1110_0011_1110 }
}
