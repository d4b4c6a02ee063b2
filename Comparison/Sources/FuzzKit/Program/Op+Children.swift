// Purpose: one traversal of a program's tree, for code that only reads or changes every step.

extension Op {
  /// The lists of steps inside this one.
  public var bodies: [[Op]] {
    switch self {
    case .submit(let submission), .handshake(_, _, let submission),
      .suspendUntil(_, _, let submission):
      [submission.item.body]
    case .iterate(_, let items): items.map(\.body)
    case .notify(_, _, let item), .notifyItem(_, _, let item): [item.body]
    case .permit(_, _, _, let body), .suspended(_, _, let body): [body]
    case .meeting(_, _, let members): members.map(\.item.body)
    case .waitGroup, .activate, .retarget, .cancel, .waitItem, .readSpecific, .spin, .busyWait: []
    }
  }

  /// The step's submissions by an operation of a queue.
  public var submissions: [Submission] {
    switch self {
    case .submit(let submission), .handshake(_, _, let submission),
      .suspendUntil(_, _, let submission):
      [submission]
    case .meeting(_, _, let members): members
    default: []
    }
  }

  /// Returns the same step with every list inside it changed.
  public func mapBodies(_ change: ([Op]) -> [Op]) -> Op {
    switch self {
    case .submit(let submission): .submit(submission.mapBody(change))
    case .handshake(let id, let semaphore, let submission):
      .handshake(id: id, semaphore: semaphore, submission.mapBody(change))
    case .suspendUntil(let id, let queue, let submission):
      .suspendUntil(id: id, queue: queue, submission.mapBody(change))
    case .iterate(let id, let items): .iterate(id: id, items.map { $0.mapBody(change) })
    case .notify(let group, let queue, let item):
      .notify(group: group, queue: queue, item.mapBody(change))
    case .notifyItem(let other, let queue, let item):
      .notifyItem(of: other, queue: queue, item.mapBody(change))
    case .permit(let id, let semaphore, let patience, let body):
      .permit(id: id, semaphore: semaphore, patience: patience, body: change(body))
    case .suspended(let id, let queue, let body):
      .suspended(id: id, queue: queue, body: change(body))
    case .meeting(let id, let polling, let members):
      .meeting(id: id, by: polling, members.map { $0.mapBody(change) })
    case .waitGroup, .activate, .retarget, .cancel, .waitItem, .readSpecific, .spin, .busyWait:
      self
    }
  }

  /// Returns the same step with its submissions changed, if it has any.
  public func mapSubmissions(_ change: (Submission) -> Submission) -> Op {
    switch self {
    case .submit(let submission): .submit(change(submission))
    case .handshake(let id, let semaphore, let submission):
      .handshake(id: id, semaphore: semaphore, change(submission))
    case .suspendUntil(let id, let queue, let submission):
      .suspendUntil(id: id, queue: queue, change(submission))
    case .meeting(let id, let polling, let members):
      .meeting(id: id, by: polling, members.map(change))
    default: self
    }
  }
}

extension Item {
  func mapBody(_ change: ([Op]) -> [Op]) -> Item { Item(id, change(body)) }
}

extension Submission {
  func mapBody(_ change: ([Op]) -> [Op]) -> Submission {
    var changed = self
    changed.item.body = change(item.body)
    return changed
  }
}

extension Program {
  /// All steps, outermost first.
  public var allOps: [Op] {
    var found: [Op] = []
    func visit(_ ops: [Op]) {
      for op in ops {
        found.append(op)
        op.bodies.forEach(visit)
      }
    }
    drivers.forEach(visit)
    return found
  }

  /// Returns the program with every step replaced by any number of steps; inner ones first.
  public func flatMapOps(_ change: (Op) -> [Op]) -> Program {
    func visit(_ ops: [Op]) -> [Op] { ops.flatMap { change($0.mapBodies(visit)) } }
    var changed = self
    changed.drivers = drivers.map(visit)
    return changed
  }

  /// One more than the highest number of a step or item.
  public var idLimit: Int {
    var highest = -1
    for op in allOps {
      highest = max(highest, op.id)
      for submission in op.submissions { highest = max(highest, submission.item.id) }
      if case .iterate(_, let items) = op {
        for item in items { highest = max(highest, item.id) }
      }
    }
    return highest + 1
  }
}
