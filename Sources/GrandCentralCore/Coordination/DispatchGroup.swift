// Room: Coordination/DispatchGroup. Tracks when a set of work is done. The word: GroupState.swift.
// A group is kept alive by its callers, by each async(group:) node, and by itself while
// notifications are registered. Without any of these, no thread can leave a group or wait for it.
// It may then be destroyed with members inside; nothing else depends on it.

/// A set of work whose completion a thread can wait for, or a queue can be notified of.
///
/// ```swift
/// let group = DispatchGroup()
/// for page in pages { DispatchQueue.global().async(group: group) { render(page) } }
/// group.notify(queue: .main) { show(pages) }
/// ```
/// - Source: `dispatch/group.h` of the public reference.
// SAFETY: `lock` guards `registered`; all other shared state is atomic.
public final class DispatchGroup: DispatchObject, @unchecked Sendable {
  // First: it lies beside the last property of the base class.
  /// Whether `registered` may hold notifications. Written under the lock; a thread whose wait ends
  /// reads it without.
  let hasRegistered = Atomic<Bool>(false)
  @usableFromInline let word = Atomic<UInt64>(0)
  /// The registered notifications, in order. While there are any, the group retains itself.
  @Cell var registered: [Notification] = []
  let lock = Lock()
  private let spinLimit: Int32

  /// Creates an empty group.
  ///
  /// - Source: `dispatch_group_create(3)`.
  override public init() {
    spinLimit = Int32(Spin.maxLooks)
    super.init()
  }

  init(spinLimit: Int) {
    self.spinLimit = Int32(spinLimit)
    super.init()
  }

  deinit { endAttachment() }

  /// Adds a member to the group. Balance each call with `leave()`.
  ///
  /// Call from any thread. A call on a group with more than 2,147,483,647 members stops the
  /// process.
  ///
  /// - Source: `dispatch_group_enter(3)`.
  @inlinable
  public func enter() {
    // relaxed: publishes nothing. As a read-modify-write it continues the release sequence from
    // earlier leaves to the thread that sees the group empty.
    let was = GroupState(
      rawValue: word.wrappingAdd(GroupState.oneMember, ordering: .relaxed).oldValue)
    if !was.hasRoom { failFull() }
  }

  /// Removes a member from the group: a piece of work is done.
  ///
  /// Call from any thread. A call without an `enter()` before it stops the process.
  ///
  /// - Source: `dispatch_group_leave(3)`.
  @inlinable
  public func leave() {
    // releasing: publishes this thread's work to every thread that sees the group empty, through
    // the acquiring loads and exchanges in wait(), watch() and submitDue().
    let was = GroupState(
      rawValue: word.wrappingSubtract(GroupState.oneMember, ordering: .releasing).oldValue)
    if !was.leavesQuietly { leaveSlowly(was) }
  }

  /// Waits until the group is empty.
  ///
  /// Blocks the calling thread; the pool replaces a blocked worker. Notifications that were
  /// registered before are on their queues when the wait ends.
  ///
  /// - Source: `dispatch_group_wait(3)`.
  public func wait() { _ = wait(limit: .forever) }

  /// Waits until the group is empty, or until a deadline.
  ///
  /// Blocks the calling thread as `wait()` does.
  ///
  /// - Parameter timeout: the deadline. A deadline in the past polls once without blocking.
  /// - Returns: `.success` if the group was empty in time, else `.timedOut`.
  /// - Source: `dispatch_group_wait(3)`.
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { wait(limit: timeout.limit) }

  /// Waits until the group is empty, or until a date.
  ///
  /// Blocks the calling thread as `wait()` does.
  ///
  /// - Parameter timeout: the deadline, which follows changes of the wall clock.
  /// - Returns: `.success` if the group was empty in time, else `.timedOut`.
  /// - Source: `dispatch_group_wait(3)`.
  public func wait(wallTimeout timeout: DispatchWallTime) -> DispatchTimeoutResult {
    wait(limit: timeout.limit)
  }
}

extension DispatchGroup {
  @usableFromInline @inline(never)
  func failFull() -> Never {
    clientFault(
      """
      enter() on a DispatchGroup with more than 2,147,483,647 members. Each enter() needs a leave().
      """)
  }

  @usableFromInline @inline(never)
  func leaveSlowly(_ was: GroupState) {
    switch was.departure {
    case .quiet: break
    case .mayBeLast: claim()
    case .unbalanced:
      clientFault("leave() on a DispatchGroup without enter(). Call leave() once per enter().")
    }
  }

  /// Leaves the group and then touches nothing of it but its address. For callers without a
  /// reference of their own: as soon as the group is empty, a waiting thread may release it. An add
  /// followed by a separate claim would access a group that is gone.
  package func leaveAtOnce() {
    // relaxed: a guess that the exchange re-checks.
    var seen = GroupState(rawValue: word.load(ordering: .relaxed))
    while true {
      guard let (next, isClaimed) = seen.left() else { return leaveSlowly(seen) }
      let notifies = isClaimed && seen.hasNotifications
      // Before the exchange, this call's member keeps the group from emptying, and the group
      // retains itself for its notifications. After the exchange, another thread may deliver them
      // and end that hold.
      if notifies { _ = Unmanaged.passRetained(self) }
      // releasing: as in leave().
      let (won, now) = word.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won {
        if isClaimed { endGeneration(seen) }
        if notifies { Unmanaged.passUnretained(self).release() }
        return
      }
      if notifies { Unmanaged.passUnretained(self).release() }
      seen = GroupState(rawValue: now)
    }
  }

  /// Ends the generation if the group is empty; submits its notifications and wakes its waiters.
  private func claim() {
    // relaxed: a guess that the exchange re-checks.
    var seen = GroupState(rawValue: word.load(ordering: .relaxed))
    while let next = seen.claimed() {
      // relaxed: as a read-modify-write it passes on what earlier leaves released to waiters and to
      // submitDue(). This thread has done nothing since its own leave.
      let (won, now) = word.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if won {
        return endGeneration(seen)
      }
      seen = GroupState(rawValue: now)
    }
    // The group has members again, and their last leave claims; or another leave has claimed.
  }

  /// Submits the notifications of the generation that this thread has claimed from `seen`, and
  /// wakes its waiters. Without notifications it uses no more of the group than its address.
  @inline(never)
  private func endGeneration(_ seen: GroupState) {
    // Before the wake-up: the woken threads need not deliver then.
    let due = seen.hasNotifications ? deliver() : nil
    if seen.hasWaiters { futexWake(lowHalfOf: word, count: .max) }
    if let due { end(due) }
  }

  /// Waits as `wait(timeout:)` does; the deadline is a C time value of any clock.
  package func wait(word: dispatch_time_t) -> DispatchTimeoutResult {
    wait(limit: TimeLimit(word: word))
  }

  func wait(limit: TimeLimit) -> DispatchTimeoutResult {
    let result = waitForEnd(until: limit)
    // The thread that has ended the generation may not have delivered yet; see
    // DispatchGroup+Deliver.
    // acquiring: pairs with the releasing stores there, which follow the submissions.
    if result == .success && hasRegistered.load(ordering: .acquiring) { end(deliver()) }
    return result
  }

  private func waitForEnd(until limit: TimeLimit) -> DispatchTimeoutResult {
    // acquiring: pairs with the releasing subtractions in leave().
    if GroupState(rawValue: word.load(ordering: .acquiring)).hasEnded { return .success }
    if limit.hasPassed { return .timedOut }
    let isEnded = ThreadSpin.look(currentThread(), atMost: Spin.times(Int(spinLimit))) {
      GroupState(rawValue: word.load(ordering: .acquiring)).hasEnded
    }
    if isEnded { return .success }
    guard let watched = watch(GroupState.waiters) else { return .success }
    let wait = BoardWait(.group, Unmanaged.passUnretained(self).toOpaque())
    return Blocking.announced(currentThread(), wait) { sleep(from: watched, until: limit) }
  }

  /// Sets a flag of the word and returns the new word. `nil` if no generation is under way.
  func watch(_ flag: UInt64) -> GroupState? {
    // acquiring, here and below: if the group is empty, its work is visible to the caller.
    var seen = GroupState(rawValue: word.load(ordering: .acquiring))
    while let next = seen.watched(by: flag) {
      let (won, now) = word.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, successOrdering: .relaxed,
        failureOrdering: .acquiring)
      if won { return next }
      seen = GroupState(rawValue: now)
    }
    return nil
  }

  private func sleep(from watched: GroupState, until limit: TimeLimit) -> DispatchTimeoutResult {
    var isLate = false
    while true {
      // acquiring: pairs with the leaves before the exchange in claim(), which passes them on.
      let seen = GroupState(rawValue: word.load(ordering: .acquiring))
      if seen.generation != watched.generation { return .success }
      // The flag and the phantom stay: they cost the last leave one futile wake, nothing else.
      if isLate { return .timedOut }
      isLate =
        futexWait(lowHalfOf: word, while: seen.lowHalf, until: limit.deadline) == .timedOut
    }
  }
}
