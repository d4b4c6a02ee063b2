// Purpose: the single changes that make a program plainer. Each takes a program and returns
// candidates, legal or not. None makes a program longer, so shrinking ends.

enum Moves {
  static let all: [@Sendable (Program) -> [Program]] = [
    hoist, simplifySubmissions, simplifySteps, simplifyQueues, moveItems, mergeDrivers,
  ]

  /// Replaces a step by the steps inside it.
  @Sendable static func hoist(_ program: Program) -> [Program] {
    program.allOps.filter { !$0.bodies.allSatisfy(\.isEmpty) }.map { target in
      program.flatMapOps { $0.id == target.id ? $0.bodies.flatMap { $0 } : [$0] }
    }
  }

  @Sendable static func simplifySubmissions(_ program: Program) -> [Program] {
    let changes: [(Submission) -> Submission] = [
      { with($0) { $0.qos = 0 } },
      { with($0) { $0.membership = nil } },
      { with($0) { $0.hasHandle = false } },
      { with($0) { $0.isBarrier = false } },
      { with($0) { $0.membership?.isByHand = false } },
      { submission in
        with(submission) { changed in
          if case .asyncAndWait = submission.way { changed.way = .sync }
          if case .perform = submission.way { changed.way = .sync }
          if case .after = submission.way { changed.way = .async }
          if case .task = submission.way { changed.way = .async }
          if case .actor(let hops) = submission.way {
            changed.way = hops > 0 ? .actor(hops: 0) : .task
          }
        }
      },
    ]
    return program.allOps.flatMap(\.submissions).map(\.item.id).flatMap { id in
      changes.map { change in
        program.flatMapOps { op in [op.mapSubmissions { $0.item.id == id ? change($0) : $0 }] }
      }
    }
  }

  /// Makes a step of two parts a plain submission; removes iterations and members; makes waits nap.
  @Sendable static func simplifySteps(_ program: Program) -> [Program] {
    program.allOps.flatMap { target -> [Program] in
      var replacements: [Op] = []
      switch target {
      case .handshake(_, _, let submission), .suspendUntil(_, _, let submission):
        replacements = [.submit(submission)]
      case .notify(_, let queue, let item), .notifyItem(_, let queue, let item):
        replacements = [.submit(Submission(item, queue: queue))]
      case .iterate(let id, let items) where items.count > 1:
        replacements = items.indices.map { index in
          var fewer = items
          fewer.remove(at: index)
          return .iterate(id: id, fewer)
        }
      case .busyWait(let id, let item, let milestone, let polling):
        let isPlain = polling.manner == .nap
        replacements = isPlain ? [] : [.busyWait(id: id, item: item, until: milestone, by: nap)]
      case .meeting(let id, let polling, let members):
        replacements = simplifyMeeting(id, polling, members)
      case .activate(let id, let queue, let target) where target != program.queues[queue].target:
        replacements = [.activate(id: id, queue: queue, target: program.queues[queue].target)]
      default: break
      }
      return replacements.map { replacement in
        program.flatMapOps { $0.id == target.id ? [replacement] : [$0] }
      }
    }
  }

  /// The plainest polling: a short sleep between two polls.
  private static let nap = Polling(.nap, amount: 100)

  private static func simplifyMeeting(
    _ id: Int, _ polling: Polling, _ members: [Submission]
  ) -> [Op] {
    var simpler: [Op] = []
    let half = members.count / 2
    if half > 1 {
      simpler.append(.meeting(id: id, by: polling, Array(members[..<half])))
      simpler.append(.meeting(id: id, by: polling, Array(members[half...])))
    }
    if members.count > 1 {
      for index in members.indices {
        var fewer = members
        fewer.remove(at: index)
        simpler.append(.meeting(id: id, by: polling, fewer))
      }
    }
    if polling.manner != .nap { simpler.append(.meeting(id: id, by: nap, members)) }
    if members.count == 1 { simpler.append(.submit(members[0])) }
    return simpler
  }

  @Sendable static func simplifyQueues(_ program: Program) -> [Program] {
    var candidates: [Program] = []
    for number in program.queues.indices {
      let queue = program.queues[number]
      func change(_ body: (inout QueueSpec) -> Void) {
        candidates.append(with(program) { body(&$0.queues[number]) })
      }
      if queue.qos != 0 && queue.isPrivate { change { $0.qos = 0 } }
      if queue.specifics != 0 { change { $0.specifics = 0 } }
      if let target = queue.target {
        change { $0.target = nil }
        change { $0.target = program.queues[target].target }
      }
      if queue.isInactive {
        let active = program.flatMapOps { op in
          if case .activate(_, number, _) = op { [] } else { [op] }
        }
        candidates.append(with(active) { $0.queues[number].isInactive = false })
      }
      if queue.kind != .serial { change { $0.kind = .serial } }
    }
    return candidates
  }

  /// Moves an item to an earlier queue, so that fewer queues are used.
  @Sendable static func moveItems(_ program: Program) -> [Program] {
    let items = program.allOps.flatMap(\.submissions)
    return items.flatMap { submission in
      (0..<submission.queue).map { queue in
        program.flatMapOps { op in
          [
            op.mapSubmissions { found in
              found.item.id == submission.item.id ? with(found) { $0.queue = queue } : found
            }
          ]
        }
      }
    }
  }

  @Sendable static func mergeDrivers(_ program: Program) -> [Program] {
    guard program.drivers.count > 1 else { return [] }
    return [with(program) { $0.drivers[0] += $0.drivers.removeLast() }]
  }

  private static func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var changed = value
    change(&changed)
    return changed
  }
}
