// Room: Coordination/DispatchGroup. Knows when a set of work is done. The word: GroupState.swift.
// Who keeps a group alive: whoever calls it, every async(group:) node, and the group itself while
// notifications are registered. A group with members but without any of these can no longer be left
// or waited for by anybody, so it may go; nothing else depends on it.

/// A set of work whose completion can be waited for, or be told to a queue.
///
/// ```swift
/// let group = DispatchGroup()
/// for page in pages { DispatchQueue.global().async(group: group) { render(page) } }
/// group.notify(queue: .main) { show(pages) }
/// ```
/// - Source: `dispatch/group.h` of the public reference.
// SAFETY: `registered` is guarded by `lock`, all other shared state is atomic.
public final class DispatchGroup: DispatchObject, @unchecked Sendable {
  @usableFromInline let word = Atomic<UInt64>(0)
  /// Registered notifications, in order. While there are any, the group holds itself.
  @Cell var registered: [Notification] = []
  let lock = Lock()
  private let spinLimit: Int32

  /// Makes an empty group.
  override public init() {
    spinLimit = Int32(Spin.most)
    super.init()
  }

  init(spinLimit: Int) {
    self.spinLimit = Int32(spinLimit)
    super.init()
  }

  deinit { endAttachment(on: Runtime.shared.root(.default)) }

  /// Counts one more piece of work as part of the group. Balance each call with `leave()`.
  ///
  /// Call from any thread. More than 2,147,483,647 members at a time stop the process.
  ///
  /// - Source: `dispatch_group_enter(3)`.
  @inlinable
  public func enter() {
    // relaxed: hands nothing over. Being a read-modify-write it does not break the chain from the
    // leaves before it to whoever sees the group empty.
    let was = GroupState(
      rawValue: word.wrappingAdd(GroupState.oneMember, ordering: .relaxed).oldValue)
    if !was.hasRoom { failFull() }
  }

  /// Counts one piece of work as done.
  ///
  /// Call from any thread. A call without an `enter()` before it stops the process.
  ///
  /// - Source: `dispatch_group_leave(3)`.
  @inlinable
  public func leave() {
    // releasing: what this thread did is seen by whoever sees the group empty: the acquiring loads
    // and exchanges in wait(), watch() and submitDue().
    let was = GroupState(
      rawValue: word.wrappingSubtract(GroupState.oneMember, ordering: .releasing).oldValue)
    if !was.leavesQuietly { leaveSlowly(was) }
  }

  /// Waits until the group is empty.
  ///
  /// Blocks the calling thread; a worker lets another take its place meanwhile.
  ///
  /// - Source: `dispatch_group_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
  public func wait() { _ = wait(limit: .forever) }

  /// Waits until the group is empty, but not past a deadline.
  ///
  /// - Parameter timeout: the deadline. One that has passed makes this a look without a sleep.
  /// - Returns: whether the group was empty in time.
  /// - Source: `dispatch_group_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { wait(limit: timeout.limit) }

  /// Waits until the group is empty, but not past a date.
  ///
  /// - Parameter timeout: the deadline, which follows when the clock is set.
  /// - Returns: whether the group was empty in time.
  /// - Source: `dispatch_group_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
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

  /// A leave after which nothing of the group is touched but its address. For callers that hold no
  /// reference of their own: as soon as the group is empty, a thread that waits for it may release
  /// it. An addition, and a claim after it, would come back to a group that is gone.
  package func leaveAtOnce() {
    // relaxed: a guess that the exchange re-checks.
    var seen = GroupState(rawValue: word.load(ordering: .relaxed))
    while true {
      guard let (next, isClaimed) = seen.left() else { return leaveSlowly(seen) }
      let notifies = isClaimed && seen.hasNotifications
      // Until the exchange this call's own member keeps the group busy, and the group holds itself
      // for what is registered. After it another thread may deliver, and end that hold.
      if notifies { _ = Unmanaged.passRetained(self) }
      // releasing: as in leave().
      let (won, now) = word.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won {
        if isClaimed && seen.hasWaiters { futexWake(lowHalfOf: word, count: .max) }
        if notifies {
          deliver()
          Unmanaged.passUnretained(self).release()
        }
        return
      }
      if notifies { Unmanaged.passUnretained(self).release() }
      seen = GroupState(rawValue: now)
    }
  }

  /// Ends the generation if the group is empty, and wakes and notifies what waits for that.
  private func claim() {
    // relaxed: a guess that the exchange re-checks.
    var seen = GroupState(rawValue: word.load(ordering: .relaxed))
    while let next = seen.claimed() {
      // relaxed: being a read-modify-write it passes on what the leaves before it released, to waiters and
      // to submitDue(); this thread has done nothing since its own leave.
      let (won, now) = word.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if won {
        if seen.hasWaiters { futexWake(lowHalfOf: word, count: .max) }
        if seen.hasNotifications { deliver() }
        return
      }
      seen = GroupState(rawValue: now)
    }
    // Somebody is inside again, whose leave will claim; or another leave has claimed.
  }

  /// As `wait(timeout:)`, with a deadline of any clock as C's word.
  package func wait(word: dispatch_time_t) -> DispatchTimeoutResult {
    wait(limit: TimeLimit(word: word))
  }

  func wait(limit: TimeLimit) -> DispatchTimeoutResult {
    // acquiring: pairs with the releasing subtractions in leave().
    if GroupState(rawValue: word.load(ordering: .acquiring)).isEmpty { return .success }
    if limit.hasPassed { return .timedOut }
    for _ in 0..<Spin.times(Int(spinLimit)) {
      spinHint()
      if GroupState(rawValue: word.load(ordering: .acquiring)).isEmpty { return .success }
    }
    guard let watched = watch(GroupState.waiters) else { return .success }
    return Blocking.announced(currentThread()) { sleep(from: watched, until: limit) }
  }

  /// Sets a flag of the word and returns the word with it. `nil` if the group is empty.
  func watch(_ flag: UInt64) -> GroupState? {
    // acquiring, here and below: if the group is empty, its work is done for the caller too.
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
      // The flag and the phantom stay: they cost the last leave a futile wake, and nothing else.
      if isLate { return .timedOut }
      isLate =
        futexWait(lowHalfOf: word, while: seen.lowHalf, until: limit.deadline) == .timedOut
    }
  }
}
