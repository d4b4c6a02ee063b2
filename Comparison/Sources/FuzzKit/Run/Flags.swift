// Purpose: the words that busy waits poll: one for each item, which says how far it has come, and a
// count for each meeting. They do not use any engine under test.
import Glibc
import Synchronization

// SAFETY: the pointers are constant, and the words that they point to are atomic.
public final class Flags: @unchecked Sendable {
  private struct Meeting {
    let polling: Polling
    let members: Int
    /// The index of the meeting's count in `words`.
    let place: Int
  }

  /// By item: 0, 1 once it has begun, 2 once it has ended. A count for each meeting follows.
  private let words: UnsafeMutablePointer<Atomic<Int>>
  private let count: Int
  /// The meeting of each member, by the item's number.
  private let meetings: [Int: Meeting]
  private let awaited: Set<Int>

  /// Creates the flags; `nil` for a program without busy waits, which needs none.
  public init?(_ program: Program) {
    let ops = program.allOps
    var meetings: [Int: Meeting] = [:]
    var awaited: Set<Int> = []
    var place = program.idLimit
    for op in ops {
      switch op {
      case .busyWait(_, let item, _, _): awaited.insert(item)
      case .meeting(_, let polling, let members):
        let meeting = Meeting(polling: polling, members: members.count, place: place)
        place += 1
        for member in members { meetings[member.item.id] = meeting }
      default: break
      }
    }
    if meetings.isEmpty && awaited.isEmpty { return nil }
    self.meetings = meetings
    self.awaited = awaited
    count = place
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: count)
    words.deallocate()
  }

  /// Whether something waits busily for the item.
  public func isAwaited(_ item: Int) -> Bool { awaited.contains(item) || meetings[item] != nil }

  /// Sets the item's flag. A member of a meeting then waits until all members have begun.
  public func begin(_ item: Int) {
    words[item].store(1, ordering: .releasing)
    guard let meeting = meetings[item] else { return }
    words[meeting.place].wrappingAdd(1, ordering: .acquiringAndReleasing)
    wait(for: meeting.members, at: meeting.place, meeting.polling)
  }

  public func end(_ item: Int) { words[item].store(2, ordering: .releasing) }

  /// Returns once the item has begun, or ended.
  public func wait(for item: Int, _ milestone: Milestone, _ polling: Polling) {
    wait(for: milestone == .begun ? 1 : 2, at: item, polling)
  }

  private func wait(for value: Int, at place: Int, _ polling: Polling) {
    while words[place].load(ordering: .acquiring) < value { pause(polling) }
  }

  private func pause(_ polling: Polling) {
    switch polling.manner {
    case .nap: usleep(UInt32(truncatingIfNeeded: polling.amount))
    case .yield: sched_yield()
    case .spin: break
    case .compute:
      // Loading an atomic word keeps the compiler from removing the rounds.
      for _ in 0..<polling.amount { _ = words[0].load(ordering: .relaxed) }
    }
  }
}
