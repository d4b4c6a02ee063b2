// Purpose: renumbers the steps, queues, groups and semaphores of a program.

struct Renamer {
  let ids: Numbering
  let queues: [Int: Int]
  let groups: Numbering
  let semaphores: Numbering

  func rename(_ op: Op) -> Op {
    switch op {
    case .submit(let submission): .submit(rename(submission))
    case .iterate(let id, let items): .iterate(id: ids[id], items.map { rename($0) })
    case .notify(let group, let queue, let item):
      .notify(group: groups[group], queue: self.queue(queue), rename(item))
    case .waitGroup(let id, let group, let patience):
      .waitGroup(id: ids[id], group: groups[group], patience: patience)
    case .permit(let id, let semaphore, let patience, let body):
      .permit(
        id: ids[id], semaphore: semaphores[semaphore], patience: patience,
        body: body.map { rename($0) })
    case .handshake(let id, let semaphore, let submission):
      .handshake(id: ids[id], semaphore: semaphores[semaphore], rename(submission))
    case .suspended(let id, let queue, let body):
      .suspended(id: ids[id], queue: self.queue(queue), body: body.map { rename($0) })
    case .suspendUntil(let id, let queue, let submission):
      .suspendUntil(id: ids[id], queue: self.queue(queue), rename(submission))
    case .activate(let id, let queue, let target):
      .activate(id: ids[id], queue: self.queue(queue), target: target.map { self.queue($0) })
    case .retarget(let id, let queue, let target):
      .retarget(id: ids[id], queue: self.queue(queue), target: target.map { self.queue($0) })
    case .cancel(let id, let item): .cancel(id: ids[id], item: ids[item])
    case .waitItem(let id, let item): .waitItem(id: ids[id], item: ids[item])
    case .notifyItem(let other, let queue, let item):
      .notifyItem(of: ids[other], queue: self.queue(queue), rename(item))
    case .readSpecific(let id, let key): .readSpecific(id: ids[id], key: key)
    case .spin(let id, let amount): .spin(id: ids[id], amount: amount)
    case .busyWait(let id, let item, let milestone, let polling):
      .busyWait(id: ids[id], item: ids[item], until: milestone, by: polling)
    case .meeting(let id, let polling, let members):
      .meeting(id: ids[id], by: polling, members.map { rename($0) })
    }
  }

  private func queue(_ number: Int) -> Int { queues[number] ?? number }

  private func rename(_ item: Item) -> Item { Item(ids[item.id], item.body.map { rename($0) }) }

  private func rename(_ submission: Submission) -> Submission {
    var renamed = submission
    renamed.item = rename(submission.item)
    // perform() names a queue that it does not use.
    renamed.queue = queues[submission.queue] ?? 0
    if let membership = submission.membership {
      renamed.membership = .init(groups[membership.group], isByHand: membership.isByHand)
    }
    return renamed
  }
}
