// Purpose: what the program's own queues and threads do, as values: what `grandcentral dump` shows
// of another process. The same code reads the board and explains it (Sources/Board).
import GrandCentralBoard
public import GrandCentralCore

/// What the queues and threads of this process do at one moment, and what hangs.
///
/// ```swift
/// let snapshot = DispatchSnapshot()
/// for finding in snapshot.findings { print(finding.headline) }
/// for thread in snapshot.threads where thread.activity == .waiting { print(thread.name) }
/// ```
/// Its description is the text that `grandcentral dump` prints.
///
/// - Source: Docs/Inside.md.
public struct DispatchSnapshot: Sendable, CustomStringConvertible {
  /// What hangs, the most certain first; empty if nothing does.
  public let findings: [Finding]
  /// The threads that the engine has made, and those that have waited for a queue, a group, a
  /// semaphore or a work item.
  public let threads: [Thread]
  /// The queues that a thread has worked on or waited for, or that were suspended. A queue that was
  /// only entered by `sync` while it was idle is not among them.
  public let queues: [Queue]
  /// When the snapshot was taken.
  public let time: DispatchTime
  /// The text that `grandcentral dump` prints: findings, threads, queues.
  public let description: String

  /// Takes a snapshot of this process.
  ///
  /// Call from any thread, also from an item. If something seems stuck, the call sleeps for 20 ms
  /// and looks again, because what moves is not stuck. A process that has not used a queue yet has
  /// an empty snapshot.
  ///
  /// - Parameter stuckAfter: how long a wait must have lasted to be a finding. A negative interval
  ///   counts as 0, at which every wait does.
  /// - Source: Docs/Inside.md.
  public init(stuckAfter: DispatchTimeInterval = .seconds(5)) {
    let nanoseconds = UInt64(max(0, stuckAfter.saturatedNanoseconds))
    self.init(Dump.ofThisProcess(stuckAfter: nanoseconds))
  }

  init(_ dump: Dump?) {
    let snapshot = dump?.analysis.snapshot
    findings = (dump?.findings ?? []).map(Finding.init)
    threads = (snapshot?.threads ?? []).map(Thread.init)
    queues = (snapshot?.queues.values ?? []).map(Queue.init)
    time = dump.map { DispatchTime(uptimeNanoseconds: $0.analysis.now) } ?? .now()
    description =
      dump?.text(all: false, style: Style(isColoured: false))
      ?? "This process has not used a queue yet.\n"
  }

  /// Returns the queue with this number.
  ///
  /// - Parameter id: a number that another value of this snapshot refers to.
  /// - Returns: the queue; `nil` if the board does not have it.
  /// - Source: Docs/Inside.md.
  public func queue(_ id: Queue.ID) -> Queue? { queues.first { $0.id == id } }
}

extension DispatchSnapshot {
  /// Something that hangs.
  ///
  /// - Source: Docs/Inside.md, "finding".
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// What hangs. Later versions may add kinds.
    ///
    /// - Source: Docs/Inside.md, "finding".
    public enum Kind: String, Sendable {
      /// Threads wait for each other through queues and work items.
      case deadlock = "deadlock"
      /// Items that wait hold as many threads as there may be, or 64.
      case threadExplosion = "thread-explosion"
      /// Work waits in a suspended queue.
      case forgottenResume = "forgotten-resume"
      /// Threads wait for a queue whose item waits for a group or a semaphore.
      case suspectedDeadlock = "suspected-deadlock"
      /// Threads wait for a queue whose item sleeps.
      case stuckQueue = "stuck-queue"
      /// Threads wait for a group, and no thread has work that could leave it.
      case forgottenLeave = "forgotten-leave"
    }

    /// What hangs.
    public let kind: Kind
    /// One line that names the threads or the queue.
    public let headline: String
    /// A line for each wait, and the last one for what to do.
    public let details: [String]
    /// The headline, and the details indented below it.
    public var description: String {
      ([headline] + details.map { "  " + $0 }).joined(separator: "\n")
    }

    init(_ finding: GrandCentralBoard.Finding) {
      kind =
        switch finding.kind {
        case .deadlock: .deadlock
        case .explosion: .threadExplosion
        case .forgottenResume: .forgottenResume
        case .suspectedDeadlock: .suspectedDeadlock
        case .stuckQueue: .stuckQueue
        case .forgottenLeave: .forgottenLeave
        }
      headline = finding.headline
      details = finding.details
    }
  }

  /// A queue.
  ///
  /// - Source: Docs/Inside.md.
  public struct Queue: Sendable, Equatable, Identifiable {
    /// What a queue is.
    ///
    /// - Source: Docs/Inside.md.
    public enum Kind: String, Sendable {
      /// One item at a time; sources and workloops, too.
      case serial
      /// Items run at the same time.
      case concurrent
      /// A global queue.
      case global
      /// The main queue.
      case main
      /// A kind of another version.
      case unknown
    }

    /// The queue's number. Another queue may get it after this one has ended.
    public let id: UInt32
    /// The first 64 bytes of the queue's label; empty for a source.
    public let label: String
    /// What the queue is.
    public let kind: Kind
    /// The queue's own class when it was first used.
    public let qosClass: DispatchQoS.QoSClass
    /// The target queue's number; `nil` if it is a global queue that has not been drained itself.
    public let target: ID?
    /// When the queue was suspended, within 10 ms; `nil` if it is not.
    public let suspendedSince: DispatchTime?
    /// How many items were submitted since then.
    public let itemsWhileSuspended: Int

    init(_ queue: QueueRecord) {
      id = queue.place
      label = queue.label
      kind = Kind(rawValue: queue.kind.rawValue) ?? .unknown
      qosClass = DispatchQoS.QoSClass(band: queue.band)
      target = queue.target == 0 ? nil : queue.target
      suspendedSince = DispatchTime(onBoard: queue.suspendedSince)
      itemsWhileSuspended = Int(clamping: queue.queuedSuspended)
    }
  }

  /// A thread.
  ///
  /// - Source: Docs/Inside.md.
  public struct Thread: Sendable, Equatable, Identifiable {
    /// What a thread does.
    ///
    /// - Source: Docs/Inside.md.
    public enum Activity: Sendable {
      /// A worker sleeps without work.
      case idle
      /// The thread runs, or sleeps in a call that the engine does not know.
      case running
      /// The thread sleeps in a wait of the engine.
      case waiting
    }

    /// What a thread waits for.
    ///
    /// - Source: Docs/Inside.md.
    public enum Awaited: String, Sendable {
      /// To enter a queue.
      case queue
      /// A group.
      case group
      /// A semaphore.
      case semaphore
      /// A work item.
      case workItem
      /// The end of a `concurrentPerform`.
      case concurrentPerform
      /// An initialisation on another thread.
      case once
      /// A file.
      case file
    }

    /// The kernel's number of the thread: gettid(2).
    public let id: UInt32
    /// The thread's name when the engine first saw it.
    public let name: String
    /// Whether the engine has made the thread for items.
    public let isWorker: Bool
    /// Whether this is the process's first thread.
    public let isMain: Bool
    /// What the thread does.
    public let activity: Activity
    /// Since when it does that, within 10 ms.
    public let since: DispatchTime?
    /// The class of what it runs.
    public let qosClass: DispatchQoS.QoSClass
    /// The numbers of the queues whose items it runs, innermost first. One that it has entered by
    /// `sync` is known while it waits.
    public let queues: [Queue.ID]
    /// Since when it runs items of its innermost queue, within 10 ms; `nil` if it runs none, or has
    /// entered that queue by `sync`.
    public let queueSince: DispatchTime?
    /// How many items of that queue it has begun since then: if 1, `queueSince` is when that item
    /// began. `nil` if they are not counted, as those of a concurrent queue.
    public let itemsOnQueue: Int?
    /// What it waits for; `nil` if it does not.
    public let awaited: Awaited?
    /// The number of the queue that it waits for, or that runs the awaited item.
    public let awaitedQueue: Queue.ID?
    /// The thread that must continue first, as known when the wait began.
    public let holder: ID?

    init(_ thread: ThreadRecord) {
      id = thread.id
      name = thread.name
      isWorker = thread.isWorker
      isMain = thread.isMain
      activity =
        switch thread.activity {
        case .none, .idle: .idle
        case .running: .running
        case .waiting: .waiting
        }
      since = DispatchTime(onBoard: thread.since)
      qosClass = DispatchQoS.QoSClass(band: thread.band)
      let known = thread.held.filter { $0 != 0 }
      queues = known.isEmpty && thread.queue != 0 ? [thread.queue] : known
      // The board keeps the values of the last queue; and a thread that waits may have entered
      // another queue since.
      queueSince =
        thread.queue != 0 && queues.first == thread.queue
        ? DispatchTime(onBoard: thread.queueSince) : nil
      itemsOnQueue =
        queueSince == nil || thread.itemsOnQueue == 0 ? nil : Int(thread.itemsOnQueue)
      awaited =
        switch thread.wait {
        case .none: nil
        case .queue: .queue
        case .group: .group
        case .semaphore: .semaphore
        case .workItem: .workItem
        case .loop: .concurrentPerform
        case .once: .once
        case .file: .file
        }
      awaitedQueue = thread.awaitedQueue == 0 ? nil : thread.awaitedQueue
      holder = thread.holder == 0 ? nil : thread.holder
    }
  }
}

extension DispatchTime {
  /// A time of the board; `nil` for 0.
  fileprivate init?(onBoard nanoseconds: UInt64) {
    if nanoseconds == 0 { return nil }
    self.init(uptimeNanoseconds: nanoseconds)
  }
}

extension DispatchQoS.QoSClass {
  /// The class of a band of the engine.
  fileprivate init(band: UInt8) {
    let classes: [Self] = [
      .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
    ]
    self = classes.indices.contains(Int(band)) ? classes[Int(band)] : .unspecified
  }
}
