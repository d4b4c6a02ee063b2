// Room: Models/KeptOrderings. Orderings that no model misses and that remain, each with its reason.

struct KeptOrdering {
  let file: String
  /// A part of the line. If it is not unique, `after` is a part of an earlier line.
  let text: String
  let after: String?
  let change: Mutation.Change
  let why: String

  init(
    in file: String, at text: String, after: String? = nil, _ change: Mutation.Change, why: String
  ) {
    self.file = file
    self.text = text
    self.after = after
    self.change = change
    self.why = why
  }

  var line: UInt32 { EngineSources.number(in: file, of: text, after: after) }

  /// Stops if the line of an entry is not in the sources any more. The check runs with the mutants,
  /// because `orderings`, which reads the list, does not run for every change.
  static func checkPlaces() {
    for kept in all { _ = kept.line }
  }

  /// Returns the reason to keep the ordering at this line, or `nil` if the list has none.
  static func reason(_ change: Mutation.Change, file: String, line: UInt32) -> String? {
    all.first { $0.file == file && $0.change == change && $0.line == line }?.why
  }
}

extension KeptOrdering {
  static var all: [KeptOrdering] {
    Self.workItems + Self.lanes + Self.mains + Self.pools + Self.statuses + Self.rings
      + Self.sources
  }

  private static var workItems: [KeptOrdering] {
    let why = "hands over the queue's constants, such as its kind, which are no modelled memory"
    let file = "DispatchWorkItem.swift"
    return [
      KeptOrdering(in: file, at: "submission.exchange(retained", .dropsAcquire, why: why),
      KeptOrdering(in: file, at: "submission.exchange(retained", .dropsRelease, why: why),
      KeptOrdering(in: file, at: "submission.exchange(0", .dropsAcquire, why: why),
    ]
  }

  private static var lanes: [KeptOrdering] {
    let prompt =
      "for promptness: a drainer that sees the number then sees the suspension; nothing says which item is "
      + "the last before another thread's suspend()"
    let again = "advance() reads the word again, acquiring, before it comes to the list"
    let exchange = "let (won, now) = state.weakCompareExchange"
    let always = "state.change(.acquiringAndReleasing"
    return [
      KeptOrdering(
        in: "Lane+Drain.swift", at: "var noticed = consumeChanges(of: changeEpoch.load",
        .dropsAcquire,
        why: prompt),
      KeptOrdering(
        in: "Lane+Drain.swift", at: "let now = changeEpoch.load", .dropsAcquire, why: prompt),
      KeptOrdering(
        in: "Lane+Drain.swift", at: "let (won, _) = state.weakCompareExchange", .dropsRelease,
        why: "only a drainer with a list that a sync() left has exchanged nothing else; a raise "
          + "right after it could miss the owner's name"),
      KeptOrdering(
        in: "Lane+Suspend.swift", at: "changeEpoch.wrappingAdd", .dropsRelease, why: prompt),
      KeptOrdering(
        in: "Lane+Suspend.swift", at: "state.transition(.releasing", after: "func suspendFirst",
        .dropsRelease,
        why: "tells of what the caller did before; nothing reads it in a model"),
      KeptOrdering(
        in: "Lane+Suspend.swift", at: exchange, after: "func resumeFirst", .dropsAcquire,
        why: again),
      KeptOrdering(
        in: "Lane+Suspend.swift", at: exchange, after: "func changeSuspension", .dropsAcquire,
        why: again),
      KeptOrdering(
        in: "Lane+Suspend.swift", at: "let (won, now) = suspension.weakCompareExchange",
        after: "func changeSuspension", .dropsRelease,
        why: "the exchange of the state word that follows releases too, unless more remains"),
      KeptOrdering(
        in: "Lane+Sync.swift", at: always, after: "func leaveExclusive", .dropsAcquire,
        why: again),
      KeptOrdering(
        in: "Lane+Sync.swift", at: always, after: "func leaveShared", .dropsAcquire, why: again),
      KeptOrdering(
        in: "Lane+Sync.swift", at: exchange, after: "node that may pass could", .dropsAcquire,
        why: "one exchange for both kinds of push; this one only queues"),
      KeptOrdering(
        in: "LaneState.swift", at: "self.change(.acquiringAndReleasing", .dropsRelease,
        why: "rare moves share one loop; setting `suspended` tells of what its caller did"),
    ]
  }

  private static var mains: [KeptOrdering] {
    let ends = "signal.change(.acquiringAndReleasing"
    return [
      KeptOrdering(
        in: "MainQueue+End.swift", at: ends, .dropsRelease,
        why: "orders two stores to `drainer`, which the checker puts in the order of time"),
      KeptOrdering(
        in: "MainQueue+End.swift", at: ends, .dropsAcquire,
        why: "for the note on the board, which the models have not"),
    ]
  }

  /// Orderings of hints, orderings that the idle lock hides in the models, and orderings that only
  /// a larger pool than the models' needs.
  private static var pools: [KeptOrdering] {
    let bits =
      "the changes of the bits are exchanges of one word, which the checker puts in the order of time; only the "
      + "load in the last check can be late, and its weakening is found"
    let counts =
      "one of two: the counts change under the idle lock too, which orders what the models can reach; "
      + "stepping back and announcing change them without it"
    let workers =
      "a worker beyond the first few appears while another parks: more threads than the models have"
    let record =
      "the record is reached under the idle lock in the models; the monitor reads it without"
    let changes: [Mutation.Change] = [.dropsSequential, .dropsAcquire, .dropsRelease]
    var list = [Mutation.Change.dropsAcquire, .dropsRelease].map {
      KeptOrdering(
        in: "Pool+Submit.swift", at: "injectorHints.bitwiseOr", after: "func markWaiting", $0,
        why: bits)
    }
    for change in changes {
      list += [
        KeptOrdering(
          in: "Pool+Submit.swift", at: "injectorHints.bitwiseOr", after: "func unmarkIfEmpty",
          change, why: bits),
        KeptOrdering(
          in: "Pool.swift", at: "state.change(.sequentiallyConsistent", change,
          why: counts),
        KeptOrdering(
          in: "Pool+Submit.swift", at: "state.transition(.sequentiallyConsistent) { seen",
          after: "func wake(", change, why: counts),
        KeptOrdering(
          in: "Pool.swift", at: "workerCount.store(index + 1", change, why: workers),
        KeptOrdering(
          in: "Pool+Park.swift", at: "for index in 0..<workerCount.load", after: "func hasWork()",
          change,
          why: workers),
      ]
    }
    return list + [
      KeptOrdering(
        in: "Pool+Take.swift", at: "let count = workerCount.load",
        after: "func mostUrgentLocalQueue", .dropsAcquire, why: workers),
      KeptOrdering(in: "Worker.swift", at: "threadWord.load", .dropsAcquire, why: record),
      KeptOrdering(in: "Worker.swift", at: "threadWord.store", .dropsRelease, why: record),
    ]
  }

  /// The status of a worker, which orders changes of the pool's counts.
  private static var statuses: [KeptOrdering] {
    let why =
      "orders the changes of the counts by two threads. In the checker a read-modify-write changes the latest value, "
      + "so these changes come in the order of time"
    let park = "Pool+Park.swift"
    let acquiring: [(file: String, text: String, after: String?)] = [
      ("Pool+Blocked.swift", "worker.status.exchange(.announced", nil),
      ("Pool+Blocked.swift", "worker.status.exchange(.running", nil),
      (park, "worker.status.exchange(.away", nil),
      ("Monitor.swift", "let (done, _) = worker.status.compareExchange(", "func mark"),
    ]
    let releasing: [(file: String, text: String, after: String?)] = [
      ("Pool+Blocked.swift", "worker.status.exchange(.running", nil),
      ("Monitor.swift", "let (done, _) = worker.status.compareExchange(", "func unmark"),
      (park, "worker.status.store(.running", "func runUntilIdle"),
      (park, "worker.status.store(.running", "func park("),
      (park, "worker.status.store(.running", "func goIdle"),
      ("Pool+ExternalWorker.swift", "externalWorker.status.store(.running", "func runInline"),
      ("Pool+ExternalWorker.swift", "externalWorker.status.store(.running", "func leave"),
    ]
    return acquiring.map {
      KeptOrdering(in: $0.file, at: $0.text, after: $0.after, .dropsAcquire, why: why)
    }
      + releasing.map {
        KeptOrdering(in: $0.file, at: $0.text, after: $0.after, .dropsRelease, why: why)
      }
  }

  private static var sources: [KeptOrdering] {
    let file = "DispatchSource.swift"
    let why =
      "what goes with the word is found by exchanges or under locks in all kinds of sources that there are, and its "
      + "nodes by the lane's push; a kind that keeps plain data would need it"
    let handlers = "DispatchSource+Handlers.swift"
    let transitions = ["starting", "signalled", "beginningEvent", "cancelling"]
    let locked: [(String, String?)] = [
      ("$0.registering()", nil), ("$0.replacing()", nil), ("$0.adopting(", nil),
      ("$0.registered()", "func adoptHandlers"),
      ("$0.registered()", "func takeRegistrationHandler"),
    ]
    let underLock =
      "this transition runs under the source's lock, and what goes with it is guarded by that lock or by the lane"
    let loads = [
      (handlers, "sourceState.load(ordering: .acquiring).isStarted"),
      (file, "sourceState.load(ordering: .acquiring).isCancelled"),
    ]
    let changes: [Mutation.Change] = [.dropsAcquire, .dropsRelease]
    return changes.flatMap { change in
      transitions.map {
        KeptOrdering(in: file, at: "sourceState.transition({ $0.\($0)()", change, why: why)
      }
        + locked.map { KeptOrdering(in: handlers, at: $0, after: $1, change, why: underLock) }
    }
      + loads.map { KeptOrdering(in: $0, at: $1, .dropsAcquire, why: why) } + [
        KeptOrdering(
          in: "DescriptorEntry.swift", at: "let now = word.load(ordering: .acquiring)",
          .dropsAcquire,
          why:
            "an event that comes by signal() is ordered by its exchange; only an event that is sent for a new handler reads "
            + "the word before that, and no search has found the race")
      ]
  }

  private static var rings: [KeptOrdering] {
    let reuse =
      "keeps a slot from being filled again before it was read: a load that comes after a later store, "
      + "which the checker does not model"
    let passesOn =
      "orders the store of `.inboxes` before a push in the single order, which the checker takes from the "
      + "execution"
    return [
      KeptOrdering(
        in: "Injector.swift", at: "if places.load(ordering: .acquiring)", .dropsAcquire,
        why: passesOn),
      KeptOrdering(
        in: "Injector.swift", at: "places.store(known.union(.front)", .dropsRelease, why: passesOn),
      KeptOrdering(
        in: "Injector.swift",
        at: "places.store(knownPlaces.subtracting(.front), ordering: .releasing)",
        .dropsRelease, why: passesOn),
      KeptOrdering(
        in: "LocalQueue.swift", at: "head.load(ordering: .sequentiallyConsistent)",
        .dropsSequential, why: "tail decides the pair; both ends are read in one order"),
      KeptOrdering(
        in: "LocalQueue.swift", at: "head.load(ordering: .sequentiallyConsistent)",
        .dropsAcquire, why: "comes with the single order"),
      KeptOrdering(
        in: "LocalQueue.swift", at: "tail.store(last &+ UInt32(count - 1)", .dropsSequential,
        why:
          "a last check misses such a list of a lowered worker only if a thief has taken what it "
          + "had before; no model has all three"),
      KeptOrdering(
        in: "LocalQueue.swift", at: "let first = words.pointee.head.load(ordering: .acquiring)",
        after: "func room", .dropsAcquire, why: reuse),
      KeptOrdering(
        in: "LocalQueue.swift", at: "other.words.pointee.head.load(ordering: .acquiring)",
        .dropsAcquire,
        why: reuse),
    ]
  }
}
