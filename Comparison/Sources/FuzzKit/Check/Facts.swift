// Purpose: tables of a program's items and other steps, with the position of each, made before the
// run. The rules read these tables beside the log.

public struct Facts: Sendable {
  public struct ItemFacts: Sendable {
    public enum Origin: Sendable {
      case submission(Submission.Way)
      case iteration(of: Int)
      case notification(group: Int)
      case itemNotification(of: Int)
    }

    public let id: Int
    /// The item's queue; `nil` if it runs on the thread that calls it.
    public let queue: Int?
    public let origin: Origin
    public var isBarrier = false
    public var hasHandle = false
    public var group: Int?
    /// The item or other step whose body contains this item's submission.
    public let parent: Int?

    public var way: Submission.Way? {
      if case .submission(let way) = origin { way } else { nil }
    }

    /// Whether the item has its position in the queue when the call has returned.
    public var isSubmittedByCall: Bool {
      switch way {
      case .async, .sync, .asyncAndWait, .task: queue != nil
      case .after, .perform, .actor, nil: false
      }
    }
  }

  public struct Pair: Sendable {
    public let id: Int
    public let object: Int
    /// The item whose closure contains the step directly.
    public var context: Int?
    /// For a step of two parts, the second part: the item that signals or resumes.
    public var item: Int?
  }

  public struct Change: Sendable {
    public let id: Int
    public let queue: Int
    public let target: Int?
  }

  public let program: Program
  public let idLimit: Int
  public private(set) var items: [ItemFacts] = []
  /// The index in `items` of each item number, or -1.
  public private(set) var place: [Int]
  public private(set) var groupWaits: [Pair] = []
  public private(set) var permits: [Pair] = []
  public private(set) var handshakes: [Pair] = []
  public private(set) var suspensions: [Pair] = []
  public private(set) var activations: [Change] = []
  public private(set) var retargets: [Change] = []
  public private(set) var cancels: [Pair] = []
  public private(set) var itemWaits: [Pair] = []
  public private(set) var reads: [Pair] = []
  /// Each queue's target before any retargeting. The target of an inactive queue is final at its
  /// activation.
  public private(set) var firstTargets: [Int?]
  public private(set) var isRetargeted: [Bool]

  public init(_ program: Program) {
    self.program = program
    idLimit = program.idLimit
    place = Array(repeating: -1, count: idLimit)
    firstTargets = program.queues.map(\.target)
    isRetargeted = Array(repeating: false, count: program.queues.count)
    for driver in program.drivers { visit(driver, in: nil) }
    for change in activations { firstTargets[change.queue] = change.target }
    for change in retargets { isRetargeted[change.queue] = true }
  }

  public func item(_ id: Int) -> ItemFacts? {
    place.indices.contains(id) && place[id] >= 0 ? items[place[id]] : nil
  }

  private mutating func add(_ item: ItemFacts) {
    place[item.id] = items.count
    items.append(item)
  }

  private mutating func add(_ submission: Submission, parent: Int?) {
    let isElsewhere = submission.way == .perform
    add(
      ItemFacts(
        id: submission.item.id, queue: isElsewhere ? nil : submission.queue,
        origin: .submission(submission.way), isBarrier: submission.isBarrier,
        hasHandle: submission.hasHandle, group: submission.membership?.group, parent: parent))
    visit(submission.item.body, in: submission.item.id)
  }

  private mutating func visit(_ ops: [Op], in context: Int?) {
    for op in ops { visit(op, in: context) }
  }

  private mutating func visit(_ op: Op, in context: Int?) {
    switch op {
    case .submit(let submission): add(submission, parent: context)
    case .iterate(let id, let items):
      for item in items {
        add(ItemFacts(id: item.id, queue: nil, origin: .iteration(of: id), parent: context))
        visit(item.body, in: item.id)
      }
    case .notify(let group, let queue, let item):
      add(
        ItemFacts(id: item.id, queue: queue, origin: .notification(group: group), parent: context))
      visit(item.body, in: item.id)
    case .notifyItem(let other, let queue, let item):
      add(
        ItemFacts(
          id: item.id, queue: queue, origin: .itemNotification(of: other), parent: context))
      visit(item.body, in: item.id)
    case .waitGroup(let id, let group, _):
      groupWaits.append(Pair(id: id, object: group, context: context))
    case .permit(let id, let semaphore, _, let body):
      permits.append(Pair(id: id, object: semaphore, context: context))
      visit(body, in: context)
    case .handshake(let id, let semaphore, let submission):
      handshakes.append(
        Pair(id: id, object: semaphore, context: context, item: submission.item.id))
      add(submission, parent: context)
    case .suspended(let id, let queue, let body):
      suspensions.append(Pair(id: id, object: queue, context: context))
      visit(body, in: context)
    case .suspendUntil(let id, let queue, let submission):
      suspensions.append(
        Pair(id: id, object: queue, context: context, item: submission.item.id))
      add(submission, parent: context)
    case .activate(let id, let queue, let target):
      activations.append(Change(id: id, queue: queue, target: target))
    case .retarget(let id, let queue, let target):
      retargets.append(Change(id: id, queue: queue, target: target))
    case .cancel(let id, let item): cancels.append(Pair(id: id, object: item, context: context))
    case .waitItem(let id, let item):
      itemWaits.append(Pair(id: id, object: item, context: context))
    case .readSpecific(let id, let key):
      reads.append(Pair(id: id, object: key, context: context))
    case .meeting(_, _, let members):
      for member in members { add(member, parent: context) }
    case .spin, .busyWait: break
    }
  }
}

extension Facts {
  /// Whether the item holds its own queue alone: a serial one, or a concurrent one as a barrier.
  func isExclusive(_ item: ItemFacts) -> Bool {
    guard let queue = item.queue else { return false }
    let spec = program.queues[queue]
    return spec.isSerial || spec.kind == .concurrent && item.isBarrier
  }
}
