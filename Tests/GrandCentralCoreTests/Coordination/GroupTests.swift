import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A group's state word") struct GroupStateTests {
  let empty = GroupState(rawValue: 0)
  func with(members: UInt64, _ low: UInt64 = 0) -> GroupState {
    GroupState(rawValue: members << 32 | low)
  }

  @Test func `admits a watcher as a phantom, once`() throws {
    let one = with(members: 1)
    let watched = try #require(one.watched(by: GroupState.waiters))
    #expect(watched.members == 2)
    #expect(watched.hasWaiters && !watched.hasNotifications)
    let both = try #require(watched.watched(by: GroupState.notifications))
    #expect(both.members == 2)
    #expect(both.hasWaiters && both.hasNotifications)
    #expect(!both.isEmpty)
  }

  @Test func `accepts no watcher while it has no members`() {
    #expect(empty.watched(by: GroupState.waiters) == nil)
    #expect(GroupState(rawValue: 4).watched(by: GroupState.notifications) == nil)
  }

  @Test func `admits a watcher until its last leave has claimed`() throws {
    let leaving = with(members: 1, GroupState.waiters)
    #expect(leaving.isEmpty && !leaving.hasEnded)
    let watched = try #require(leaving.watched(by: GroupState.notifications))
    #expect(watched == with(members: 1, 3))
    #expect(try #require(watched.claimed()).hasEnded)
  }

  @Test func `is claimed when the phantom is alone`() throws {
    #expect(empty.claimed() == nil)
    #expect(with(members: 1).claimed() == nil)
    #expect(with(members: 2, GroupState.waiters).claimed() == nil)
    let claimed = try #require(with(members: 1, 3).claimed())
    #expect(claimed == GroupState(rawValue: 4))
    #expect(claimed.generation == 1)
    #expect(claimed.isEmpty && !claimed.isWatched)
  }

  @Test func `wraps its generation without counting a member`() throws {
    let last = with(members: 1, 0xffff_ffff)
    #expect(try #require(last.claimed()) == empty)
  }

  @Test func `says what a leave must do`() {
    #expect(empty.departure == .unbalanced)
    #expect(with(members: 1, 1).departure == .unbalanced)
    #expect(with(members: 1).departure == .quiet)
    #expect(with(members: 2).departure == .quiet)
    #expect(with(members: 2, 2).departure == .mayBeLast)
    #expect(with(members: 3, 2).departure == .quiet)
    for word in [empty, with(members: 1, 1), with(members: 2, 2)] {
      #expect(!word.leavesQuietly)
    }
    for word in [with(members: 1), with(members: 2), with(members: 3, 1)] {
      #expect(word.leavesQuietly)
    }
  }

  @Test func `has room for two thousand million members`() {
    #expect(with(members: 0x7fff_ffff).hasRoom)
    #expect(!with(members: 0x8000_0000).hasRoom)
  }
}

@Suite("A group") struct GroupTests {
  @Test func `that is empty makes no thread wait`() {
    let group = DispatchGroup()
    group.wait()
    #expect(group.wait(timeout: .now()) == .success)
    #expect(group.wait(wallTimeout: .distantFuture) == .success)
  }

  @Test func `makes waiters wait until their deadline`() {
    let group = DispatchGroup()
    group.enter()
    #expect(group.wait(timeout: .now()) == .timedOut)
    let deadline = DispatchTime.now() + .milliseconds(20)
    #expect(group.wait(timeout: deadline) == .timedOut)
    #expect(DispatchTime.now() >= deadline)
    #expect(group.wait(wallTimeout: .now() + .milliseconds(5)) == .timedOut)
    group.leave()
    #expect(group.wait(timeout: .now()) == .success)
  }

  @Test(arguments: [0, 1_000])
  func `wakes every waiter when the last member leaves`(spinLimit: Int) {
    let group = DispatchGroup(spinLimit: spinLimit)
    group.enter()
    group.enter()
    let cell = UnsafeCell()
    let waiters = (0..<3).map { _ in
      TestThread {
        group.wait()
        #expect(cell.value == 2)
      }
    }
    cell.value = 1
    group.leave()
    #expect(group.wait(timeout: .now() + .milliseconds(5)) == .timedOut)
    cell.value = 2
    group.leave()
    for waiter in waiters { #expect(waiter.join()) }
  }

  @Test func `can be used again`() {
    let group = DispatchGroup(spinLimit: 0)
    for round in 0..<300 {
      let cell = UnsafeCell()
      group.enter()
      let thread = TestThread {
        cell.value = round
        group.leave()
      }
      group.wait()
      #expect(cell.value == round)
      #expect(thread.join())
    }
  }

  @Test func `notifies at once when it is empty`() {
    let group = DispatchGroup()
    let notified = Latch()
    group.notify(queue: DispatchQueue(label: "notified")) { notified.open() }
    #expect(notified.wait())
  }

  @Test func `notifies in order, and only when it is empty`() {
    let group = DispatchGroup()
    let queue = DispatchQueue(label: "notified")
    let notified = Latch()
    let order = Log<Int>()
    group.enter()
    for number in 0..<5 { group.notify(queue: queue) { order.append(number) } }
    group.notify(queue: queue, work: DispatchWorkItem { order.append(5) })
    group.notify(queue: queue) { notified.open() }
    // A notification that was submitted too early is before this.
    queue.sync {}
    #expect(order.all == [])
    group.leave()
    #expect(notified.wait())
    #expect(order.all == [0, 1, 2, 3, 4, 5])
  }

  @Test func `lives until its notifications are submitted`() {
    let notified = Latch()
    weak var weakGroup: DispatchGroup?
    do {
      let group = DispatchGroup()
      weakGroup = group
      group.enter()
      group.notify(queue: DispatchQueue(label: "notified")) { notified.open() }
    }
    #expect(weakGroup != nil)
    weakGroup?.leave()
    #expect(notified.wait())
    #expect(eventually { weakGroup == nil })
  }

  @Test func `may be released while it has members`() {
    let group = DispatchGroup()
    group.enter()
    _ = group.wait(timeout: .now() + .milliseconds(1))
  }

  @Test func `counts submitted work in and out`() {
    let group = DispatchGroup()
    let queues = (0..<3).map { DispatchQueue(label: "work \($0)") }
    let done = SharedBox(Atomic<Int>(0))
    for round in 0..<600 {
      let queue = queues[round % 3]
      if round % 2 == 0 {
        queue.async(group: group) { done.value.wrappingAdd(1, ordering: .relaxed) }
      } else {
        queue.async(
          group: group,
          execute: DispatchWorkItem { done.value.wrappingAdd(1, ordering: .relaxed) })
      }
    }
    group.wait()
    #expect(done.value.load(ordering: .relaxed) == 600)
  }

  /// Members enter and leave on several threads while others wait and register. Every notification
  /// arrives, and none before the member of the thread that registered it has left.
  @Test func `misses no member under load`() {
    let group = DispatchGroup(spinLimit: 0)
    let queue = DispatchQueue(label: "notified")
    let notified = SharedBox(Atomic<Int>(0))
    let haveEnded = onThreads(4) { index in
      for round in 0..<1_500 {
        let left = SharedBox(Atomic<Bool>(false))
        group.enter()
        if round % 3 == index % 3 {
          group.notify(queue: queue) {
            if left.value.load(ordering: .relaxed) {
              notified.value.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
        left.value.store(true, ordering: .relaxed)
        group.leave()
        if round % 50 == 0 { _ = group.wait(timeout: .now() + .microseconds(50)) }
      }
      group.wait()
    }
    #expect(haveEnded)
    let flushed = DispatchSemaphore(value: 0)
    queue.async { flushed.signal() }
    flushed.wait()
    #expect(notified.value.load(ordering: .relaxed) == 4 * 500)
  }

  @Test func `an unbalanced leave stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let group = DispatchGroup()
      group.enter()
      group.leave()
      group.leave()
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: leave() on a DispatchGroup without"))
  }

  @Test func `too many members stop and name the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let group = DispatchGroup()
      group.word.store(0x8000_0000 << 32, ordering: .relaxed)
      group.enter()
    }
    #expect(says(result, "more than 2,147,483,647 members"))
  }
}
