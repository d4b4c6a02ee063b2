// Room: Pool/InjectorKey. The name of an injector.

/// The kind and the band of an injector.
struct InjectorKey: Equatable {
  let kind: WorkKind
  let band: Band

  /// Its index among the injectors.
  var index: Int { kind.rawValue * 8 + Int(band.rawValue) }
  static var count: Int { 16 }
}

extension InjectorKey {
  /// The injector with that index; `nil` if there is none.
  init?(index: Int) {
    guard let kind = WorkKind(rawValue: index / 8), let band = Band(rawValue: UInt8(index % 8))
    else { return nil }
    self.init(kind: kind, band: band)
  }
}
