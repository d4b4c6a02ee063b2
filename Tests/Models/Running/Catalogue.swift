// Room: Models/Catalogue. All models and all mutants, room by room.

enum Catalogue {
  static let models: [EngineModel] =
    Self.groups
    + Self.lanePushes + Self.laneSyncs
  static let mutants: [Mutant] =
    Self.groupMutants
    + Self.lanePushMutants + Self.laneSyncMutants
}
