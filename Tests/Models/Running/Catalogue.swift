// Room: Models/Catalogue. All models and all mutants, room by room.

enum Catalogue {
  static let models: [EngineModel] =
    Self.groups
    + Self.lanePushes + Self.laneSyncs + Self.barriers + Self.suspensions + Self.targets
  static let mutants: [Mutant] =
    Self.groupMutants
    + Self.lanePushMutants + Self.laneSyncMutants + Self.barrierMutants + Self.suspensionMutants
    + Self.targetMutants
}
