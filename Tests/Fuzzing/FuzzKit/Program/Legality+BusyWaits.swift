// Purpose: which busy waits and meetings a program may have: those that end on every engine that
// starts what may run within a bounded time, whatever runs already.
//
// A busy wait is a wait like others, so it keeps to the levels of Legality.swift: a thread that
// holds level n waits only for an item of a higher level. The item is certain to come: it was
// submitted earlier in the same list of steps or in a list around it, and nothing cancels it. So no
// item waits for one behind it on its queue or in its hierarchy, nor for one behind a barrier, a
// suspension or an inactive queue that the item itself holds up: all of these are of its own level.
//
// Members of a meeting wait for each other, and so within one level. They wait only until all have
// begun. That ends if each can begin while all others run: of one hierarchy (Hierarchies.swift)
// they have no serial queue in common, and nothing acts as a barrier in that hierarchy; and what
// stands in front of a member ends without any meeting of that level: members are of one level, and
// no hierarchy has members of two meetings. So in front of a member are only items that wait for
// higher levels. By induction from the highest level down: there, what is in front of the members
// waits for nothing but its own hierarchy, so it ends, the members begin, the meeting ends, and so
// does what stands behind it. A lower level waits for higher ones, which end, and then the same
// holds there.
//
// The step that holds a meeting submits all members and waits for none, so it may stand anywhere.

extension LegalityChecker {
  /// Whether the item of a submission, once submitted, runs whatever else happens.
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
