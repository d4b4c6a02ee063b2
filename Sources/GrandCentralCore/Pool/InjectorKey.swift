// Room: Pool/InjectorKey. The name of an injector.

/// The kind and the band of an injector.
struct InjectorKey: Equatable {
  let kind: WorkKind
  let band: Band

  /// Its index among the injectors.
  var index: Int { kind.rawValue * 8 + Int(band.rawValue) }
  static var count: Int { 16 }
}
