// Purpose: what one step of a program does. Every step has a number of its own, which is also that
// of the item it submits; the log speaks in these numbers.

public enum Op: Hashable, Sendable {
  case submit(Submission)
  /// `concurrentPerform` with one iteration for each item.
  case iterate(id: Int, [Item])
  /// `group.notify`.
  case notify(group: Int, queue: Int, Item)
  /// `group.wait`; with `patience`, for so many microseconds at most.
  case waitGroup(id: Int, group: Int, patience: Int?)
  /// `wait`, the body, `signal`: at most so many at a time as the semaphore says. With `patience`,
  /// the body is left out when no permit came in time.
  case permit(id: Int, semaphore: Int, patience: Int?, body: [Op])
  /// Submits an item that signals at its end, then waits.
  case handshake(id: Int, semaphore: Int, Submission)
  /// `suspend`, the body, `resume`.
  case suspended(id: Int, queue: Int, body: [Op])
  /// `suspend`, and an item elsewhere that resumes at its end.
  case suspendUntil(id: Int, queue: Int, Submission)
  /// `setTarget` if `target` is not the queue's first one, then `activate`.
  case activate(id: Int, queue: Int, target: Int?)
  /// `setTarget` on a queue at work.
  case retarget(id: Int, queue: Int, target: Int?)
  /// Cancels the handle of item `item`.
  case cancel(id: Int, item: Int)
  case waitItem(id: Int, item: Int)
  case notifyItem(of: Int, queue: Int, Item)
  case readSpecific(id: Int, key: Int)
  /// Keeps the processor busy for a moment.
  case spin(id: Int, amount: Int)
  /// Looks again and again until `item`, which was submitted before, has begun or ended. The engine
  /// does not know that the thread waits.
  case busyWait(id: Int, item: Int, until: Milestone, by: Polling)
  /// Submits items of which each, once begun, looks again and again until all have begun.
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

/// Work: what happens inside a closure.
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
    /// `asyncAfter`, in microseconds.
    case after(Int)
    /// `perform()` of the handle, on no queue.
    case perform

    /// The caller returns only after the item.
    public var isInline: Bool {
      switch self {
      case .sync, .asyncAndWait, .perform: true
      case .async, .after: false
      }
    }
  }

  public struct Membership: Hashable, Sendable {
    public var group: Int
    /// By `enter` and `leave` instead of `async(group:)`.
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
  /// Through a `DispatchWorkItem`, which others may cancel, wait for and observe.
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

  /// Nothing but `queue.async { … }`.
  public var isPlainAsync: Bool {
    way == .async && !isBarrier && !hasHandle && membership == nil
  }
}
