// Room: Models/Catalogue. All models and all mutants, room by room.

enum Catalogue {
  static let models: [EngineModel] =
    Self.groups
  static let mutants: [Mutant] =
    Self.groupMutants
}
