// Purpose: one step of a program. Every step has its own number, which is also the number of the
// item that it submits; the log refers to steps by these numbers.

public enum Op: Hashable, Sendable {
  case submit(Submission)
  /// `concurrentPerform` with one iteration for each item.
  case iterate(id: Int, [Item])
  /// `group.notify`.
  case notify(group: Int, queue: Int, Item)
  /// `group.wait`; with `patience`, a timeout in microseconds.
  case waitGroup(id: Int, group: Int, patience: Int?)
  /// `wait`, the body, `signal`; the semaphore limits how many threads are in the body. With
  /// `patience`, a timeout in microseconds, the body is skipped if the wait times out.
  case permit(id: Int, semaphore: Int, patience: Int?, body: [Op])
  /// Submits an item that signals at its end, then waits for the signal.
  case handshake(id: Int, semaphore: Int, Submission)
  /// `suspend`, the body, `resume`.
  case suspended(id: Int, queue: Int, body: [Op])
  /// `suspend`, and an item on another queue that resumes at its end.
  case suspendUntil(id: Int, queue: Int, Submission)
  /// `setTarget` if `target` differs from the queue's first one, then `activate`.
  case activate(id: Int, queue: Int, target: Int?)
  /// `setTarget` on an active queue.
  case retarget(id: Int, queue: Int, target: Int?)
  /// Cancels the handle of item `item`.
  case cancel(id: Int, item: Int)
  case waitItem(id: Int, item: Int)
  case notifyItem(of: Int, queue: Int, Item)
  case readSpecific(id: Int, key: Int)
  /// Computes for a short time.
  case spin(id: Int, amount: Int)
  /// Polls until `item`, which was submitted earlier, has begun or ended. The engine does not know
  /// that the thread waits.
  case busyWait(id: Int, item: Int, until: Milestone, by: Polling)
  /// Submits items each of which begins and then polls until all have begun.
  case meeting(id: Int, by: Polling, [Submission])

  public var id: Int {
    switch self {
    case .submit(let submission): submission.item.id
    case .notify(_, _, let item), .notifyItem(_, _, let item): item.id
    case .iterate(let id, _), .waitGroup(let id, _, _), .permit(let id, _, _, _),
      .handshake(let id, _, _), .suspended(let id, _, _), .suspendUntil(let id, _, _),
      .activate(let id, _, _), .retarget(let id, _, _), .cancel(let id, _),
      .waitItem(let id, _), .readSpecific(let id, _), .spin(let id, _),
      .busyWait(let id, _, _, _), .meeting(let id, _, _):
      id
    }
  }
}

/// A work item: the steps inside a closure.
public struct Item: Hashable, Sendable {
  public var id: Int
  public var body: [Op]
  public init(_ id: Int, _ body: [Op] = []) {
    self.id = id
    self.body = body
  }
}

public struct Submission: Hashable, Sendable {
  public enum Way: Hashable, Sendable {
    case async, sync, asyncAndWait
    /// `asyncAfter`, with the delay in microseconds.
    case after(Int)
    /// `perform()` of the handle, on no queue.
    case perform
    /// A detached task that prefers the queue as its executor.
    case task
    /// A detached task that calls an actor whose executor is the queue, a serial one. It hops onto
    /// the actor and back this many times before the item.
    case actor(hops: Int)

    /// Whether the caller returns only after the item.
    public var isInline: Bool {
      switch self {
      case .sync, .asyncAndWait, .perform: true
      case .async, .after, .task, .actor: false
      }
    }
  }

  public struct Membership: Hashable, Sendable {
    public var group: Int
    /// Whether membership is by `enter` and `leave` instead of `async(group:)`.
    public var isByHand: Bool
    public init(_ group: Int, isByHand: Bool = false) {
      self.group = group
      self.isByHand = isByHand
    }
  }

  public var item: Item
  public var queue: Int
  public var way: Way
  public var isBarrier: Bool
  /// Whether the item is a `DispatchWorkItem`, which other steps may cancel, wait for and observe.
  public var hasHandle: Bool
  public var membership: Membership?
  public var qos: Int

  public init(
    _ item: Item, queue: Int, way: Way = .async, isBarrier: Bool = false, hasHandle: Bool = false,
    membership: Membership? = nil, qos: Int = 0
  ) {
    self.item = item
    self.queue = queue
    self.way = way
    self.isBarrier = isBarrier
    self.hasHandle = hasHandle
    self.membership = membership
    self.qos = qos
  }

  /// Whether the submission is just `queue.async { … }`.
  public var isPlainAsync: Bool {
    way == .async && !isBarrier && !hasHandle && membership == nil
  }
}
