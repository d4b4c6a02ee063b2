// Room: Models/Catalogue. All models and all mutants, by room.

enum Catalogue {
  static let models: [EngineModel] =
    Self.primitives
    + Self.onces
    + Self.groups + Self.groupReleases + Self.groupWaits
    + Self.semaphores
    + Self.workItems
    + Self.performs
    + Self.specifics
    + Self.references
    + Self.mainQueues
    + Self.queueLabels
    + Self.boards
    + Self.events
    + Self.nodes
    + Self.localQueues
    + Self.injectors
    + Self.pools + Self.higherNodes
    + Self.sleepers
    + Self.monitors
    + Self.lanePushes
    + Self.laneSyncs
    + Self.barriers
    + Self.widths
    + Self.suspensions
    + Self.targets
    + Self.deadlocks
    + Self.overrides
    + Self.workloops
    + Self.jobs
    + Self.sources
    + Self.demands
    + Self.oneShots
    + Self.timers
    + Self.descriptors + Self.armedDescriptors + Self.growths
    + Self.externalWorkers + Self.laneReserves
    + Self.eventSources
    + Self.fileRings
    + Self.data
  static let mutants: [Mutant] =
    Self.primitiveMutants
    + Self.onceMutants
    + Self.groupMutants + Self.groupReleaseMutants + Self.groupWaitMutants
    + Self.semaphoreMutants
    + Self.workItemMutants
    + Self.performMutants
    + Self.specificMutants
    + Self.referenceMutants
    + Self.mainQueueMutants
    + Self.queueLabelMutants
    + Self.boardMutants
    + Self.eventMutants
    + Self.nodeMutants
    + Self.localQueueMutants
    + Self.injectorMutants
    + Self.poolMutants + Self.higherNodesMutants
    + Self.sleeperMutants
    + Self.monitorMutants
    + Self.lanePushMutants
    + Self.laneSyncMutants
    + Self.barrierMutants
    + Self.widthMutants
    + Self.suspensionMutants
    + Self.targetMutants
    + Self.deadlockMutants
    + Self.overrideMutants
    + Self.workloopMutants
    + Self.jobMutants
    + Self.sourceMutants
    + Self.demandMutants
    + Self.oneShotMutants
    + Self.timerMutants
    + Self.descriptorMutants + Self.armedDescriptorMutants + Self.growthMutants
    + Self.externalWorkerMutants + Self.laneReserveMutants
    + Self.eventSourceMutants
    + Self.fileRingMutants
    + Self.dataMutants
}
