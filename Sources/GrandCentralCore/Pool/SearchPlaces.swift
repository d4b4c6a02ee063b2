// Room: Pool/SearchPlaces. Where a worker without nodes of its own looks. The highest band goes
// first. For nodes of one kind and band, another worker's queue goes before the injector: what it
// has is mostly older, since an item that submits many puts those into the injector for which that
// queue has no room. But an injector that is overdue goes before it (InjectorTurn): items that
// submit themselves again may keep the queues filled. And where nodes come in whole chunks
// (ChunkSize), a worker looks at the injector of the other kind first: to steal parts of chunks is
// slower, by a tenth with items of 1 µs on eight CPUs (simulated).

struct SearchPlaces {
  private let waiting: InjectorSet
  private let overdue: InjectorSet
  private let victims: (items: Pool.Victim, lanes: Pool.Victim)
  private let limit: Band
  private let first: WorkKind
  private let areNodesShort: Bool

  /// `victims`: the local queues of the highest bands above `limit`. `first`: the kind that goes
  /// first if both have work of the same band.
  @inline(__always)
  init(
    _ hints: InjectorHints, _ victims: (items: Pool.Victim, lanes: Pool.Victim),
    above limit: Band, first: WorkKind, areNodesShort: Bool
  ) {
    (waiting, overdue) = (hints.waiting, hints.overdue)
    (self.victims, self.limit) = (victims, limit)
    (self.first, self.areNodesShort) = (first, areNodesShort)
  }

  /// The places for one kind.
  struct Place {
    /// Its band is unspecified if no injector has such work above the limit.
    let injector: InjectorKey
    let victim: Pool.Victim
    let isInjectorFirst: Bool
  }

  @inline(__always)
  func place(_ kind: WorkKind) -> Place {
    let victim = victim(kind)
    let key = InjectorKey(kind: kind, band: injectedBand(kind))
    let isFirst =
      key.band > victim.band
      || key.band == victim.band && (overdue.contains(key) || areNodesShort && kind != first)
    return Place(injector: key, victim: victim, isInjectorFirst: isFirst)
  }

  /// The kind whose work has the higher band.
  @inline(__always)
  var kind: WorkKind {
    let other = first.other
    let (band, otherBand) = (
      max(injectedBand(first), victim(first).band), max(injectedBand(other), victim(other).band)
    )
    return otherBand > band ? other : first
  }

  @inline(__always)
  private func victim(_ kind: WorkKind) -> Pool.Victim {
    kind == .items ? victims.items : victims.lanes
  }

  @inline(__always)
  private func injectedBand(_ kind: WorkKind) -> Band {
    let band = waiting.highestBand(of: kind)
    return band > limit ? band : .unspecified
  }
}

extension Pool {
  func searchOnce(
    _ hints: InjectorHints, above limit: Band = .unspecified, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    let places = searchPlaces(hints, above: limit, first: first, for: worker)
    let kind = places.kind
    let node =
      search(places.place(kind), for: worker) ?? search(places.place(kind.other), for: worker)
    if let node { return node }
    // The hint of the highest band may have been stale, or others were faster.
    let left = self.hints.waiting
    if left.isEmpty { return nil }
    return takeChunk(for: worker) {
      takeInjected(left, above: limit, atMost: $0, first: first, for: worker)
    }
  }

  @inline(__always)
  private func searchPlaces(
    _ hints: InjectorHints, above limit: Band, first: WorkKind, for worker: Worker
  ) -> SearchPlaces {
    SearchPlaces(
      hints, mostUrgentLocalQueues(above: limit, for: worker), above: limit, first: first,
      areNodesShort: worker.chunkSize.areNodesShort)
  }

  @inline(__always)
  private func search(_ place: SearchPlaces.Place, for worker: Worker) -> WorkNode? {
    if place.isInjectorFirst, let node = takeChunk(of: place.injector, for: worker) { return node }
    let stolen = place.victim.worker(of: self).flatMap {
      steal(place.injector.kind, from: $0, for: worker)
    }
    if stolen != nil || place.isInjectorFirst { return stolen }
    return takeChunk(of: place.injector, for: worker)
  }

  private func takeChunk(of key: InjectorKey, for worker: Worker) -> WorkNode? {
    if key.band == .unspecified { return nil }
    return takeChunk(for: worker) { takeInjected(key, atMost: $0, for: worker) }
  }

  /// Takes the node that a search would return, and moves none, so that the worker need not count
  /// as a searcher.
  @inline(never)
  func takeOne(
    above limit: Band = .unspecified, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    let places = searchPlaces(hints, above: limit, first: first, for: worker)
    let kind = places.kind
    return takeOne(places.place(kind), for: worker)
      ?? takeOne(places.place(kind.other), for: worker)
  }

  private func takeOne(_ place: SearchPlaces.Place, for worker: Worker) -> WorkNode? {
    if place.isInjectorFirst,
      let node = takeInjected(place.injector, atMost: 1, for: worker)
    {
      return node
    }
    let oldest = takeOldest(place.injector.kind, of: place.victim, for: worker)
    if oldest != nil || place.isInjectorFirst { return oldest }
    return takeInjected(place.injector, atMost: 1, for: worker)
  }
}
