// Room: Models/Catalogue. All models and all mutants, room by room.

enum Catalogue {
  static let models: [EngineModel] =
    Self.groups
    + Self.rings
    + Self.injectors
    + Self.nodes
    + Self.pools
    + Self.sleepers
    + Self.monitors
    + Self.workplaces
  static let mutants: [Mutant] =
    Self.groupMutants
    + Self.ringMutants
    + Self.injectorMutants
    + Self.nodeMutants
    + Self.poolMutants
    + Self.sleeperMutants
    + Self.monitorMutants
    + Self.workplaceMutants
}
