// Purpose: removes pieces of a program and closes the gaps.

extension Program {
  /// Returns the program without these steps, the steps inside them, and the steps that need them.
  func removing(_ ids: Set<Int>) -> Program {
    let shorter = flatMapOps { ids.contains($0.id) ? [] : [$0] }
    let submissions = shorter.allOps.flatMap(\.submissions)
    let items = Set(submissions.map(\.item.id))
    let handles = Set(submissions.filter(\.hasHandle).map(\.item.id))
    var smaller = shorter.flatMapOps { op in
      switch op {
      case .cancel(_, let item), .waitItem(_, let item), .notifyItem(let item, _, _):
        handles.contains(item) ? [op] : []
      case .busyWait(_, let item, _, _): items.contains(item) ? [op] : []
      default: [op]
      }
    }
    // A queue without its activation starts active.
    let activated = Set(
      smaller.allOps.compactMap { op in
        if case .activate(_, let queue, _) = op { queue } else { nil }
      })
    for number in smaller.queues.indices where !activated.contains(number) {
      smaller.queues[number].isInactive = false
    }
    return smaller
  }

  /// Returns the program without unused queues, groups and semaphores, its steps numbered from 0.
  public func compacted() -> Program {
    var program = self
    let used = usedQueues()
    var queueNumbers: [Int: Int] = [:]
    for (new, old) in used.sorted().enumerated() { queueNumbers[old] = new }
    program.queues = used.sorted().map { old in
      var spec = queues[old]
      spec.target = spec.target.map { queueNumbers[$0]! }
      return spec
    }
    var ids = Numbering()
    let groupNumbers = Numbering(usedGroups())
    let semaphoreNumbers = Numbering(usedSemaphores())
    program.groups = groupNumbers.inOrder.map { groups[$0] }
    program.semaphores = semaphoreNumbers.inOrder.map { semaphores[$0] }
    // Numbers are assigned in the order of the text, outermost first.
    for op in allOps {
      ids.add(op.id)
      for submission in op.submissions { ids.add(submission.item.id) }
      if case .iterate(_, let items) = op {
        for item in items { ids.add(item.id) }
      }
    }
    let renamer = Renamer(
      ids: ids, queues: queueNumbers, groups: groupNumbers, semaphores: semaphoreNumbers)
    program.drivers = drivers.map { $0.map(renamer.rename) }
    return program
  }

  private func usedQueues() -> Set<Int> {
    var used: Set<Int> = []
    for op in allOps {
      switch op {
      case .notify(_, let queue, _), .notifyItem(_, let queue, _), .suspended(_, let queue, _):
        used.insert(queue)
      case .suspendUntil(_, let queue, _): used.insert(queue)
      case .activate(_, let queue, let target), .retarget(_, let queue, let target):
        used.insert(queue)
        if let target { used.insert(target) }
      default: break
      }
      for submission in op.submissions where submission.way != .perform {
        used.insert(submission.queue)
      }
    }
    for (number, queue) in queues.enumerated() where used.contains(number) {
      if let target = queue.target { used.insert(target) }
    }
    return used
  }

  private func usedGroups() -> [Int] {
    allOps.flatMap { op in
      switch op {
      case .notify(let group, _, _), .waitGroup(_, let group, _): [group]
      default: op.submissions.compactMap(\.membership?.group)
      }
    }
  }

  private func usedSemaphores() -> [Int] {
    allOps.compactMap { op in
      switch op {
      case .permit(_, let semaphore, _, _), .handshake(_, let semaphore, _): semaphore
      default: nil
      }
    }
  }
}

/// New numbers for old ones, in order of first use.
struct Numbering {
  private(set) var inOrder: [Int] = []
  private var new: [Int: Int] = [:]

  init(_ olds: [Int] = []) { for old in olds { add(old) } }

  mutating func add(_ old: Int) {
    if new[old] != nil { return }
    new[old] = inOrder.count
    inOrder.append(old)
  }

  /// The new number; a number that is not in the table keeps its value.
  subscript(old: Int) -> Int { new[old] ?? old }
}
