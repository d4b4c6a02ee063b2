// Purpose: which busy waits and meetings a program may have: those that end on every engine that
// starts runnable items within a bounded time, whatever else runs.
//
// A busy wait follows the levels of Legality.swift, as every wait does: a thread that holds level n
// waits only for an item of a higher level. That item certainly runs: it was submitted earlier in
// the same list of steps or in an enclosing list, and nothing cancels it. So no item waits for one
// behind it on its queue or in its hierarchy, nor for one behind a barrier, a suspension or an
// inactive queue that the waiting item holds up: all of these are of the waiting item's own level.
//
// The members of a meeting wait for each other, so within one level. They wait only until all have
// begun. A meeting ends if each member can begin while all others run. Two rules ensure that:
// - The members of one hierarchy (Hierarchies.swift) share no serial queue, and nothing acts as a
//   barrier in that hierarchy.
// - The items ahead of a member end without any meeting of its level, because all members are of
//   one level, and no hierarchy has members of two meetings. So the items ahead of a member wait
//   only for higher levels.
// By induction from the highest level down: there, the items ahead of the members wait only for
// their own hierarchy. So they end, the members begin, the meeting ends, and the items behind it
// end. A lower level waits only for higher ones, which end, so the same argument applies to it.
//
// The step that holds a meeting submits all members and waits for none, so its position is free.

extension LegalityChecker {
  /// Whether the item of a submission certainly runs once it has been submitted.
  func certainlyRuns(_ submission: Submission) -> Bool {
    !submission.way.isInline && !cancelled.contains(submission.item.id)
  }

  mutating func checkBusyWait(_ item: Int, _ place: inout Place) throws(Complaint) {
    guard place.coming.contains(item), let queue = queueOfItem[item] else {
      throw Complaint(description: "waits busily for \(item), which may never be submitted")
    }
    try wait(for: try level(of: queue), &place)
    try demand(
      !place.isOnSharedThread || capabilities.contains(.startsWhateverRuns),
      "waits busily on a thread that the engine shares out sparingly")
  }

  mutating func checkMeeting(_ members: [Submission], _ place: Place) throws(Complaint) {
    try demand(!members.isEmpty, "a meeting without members")
    let hosts = members.map(\.queue)
    for host in hosts {
      _ = try level(of: host)
      try demand(
        !hierarchies.isShared[host] || capabilities.contains(.startsWhateverRuns),
        "a meeting on threads that the engine shares out sparingly")
    }
    if let obstacle = hierarchies.obstacle(toMeetingOn: hosts) {
      throw Complaint(description: "a meeting cannot be held: \(obstacle)")
    }
    for hierarchy in Set(hosts.compactMap { hierarchies.number[$0] }) {
      try demand(met.insert(hierarchy).inserted, "two meetings on queues that targets connect")
    }
    for member in members {
      try demandPlain(member)
      try take(member.item.id)
      var inner = place
      try check(member, &inner)
    }
  }
}
