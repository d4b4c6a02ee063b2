// Room: ModelChecker/Scene. A model: its objects, its threads, and the conditions that must hold at
// the end.

/// The objects, threads and verdicts that a model's body sets up, once per execution.
public final class Scene {
  private var verdicts: [() -> Void] = []
  private var names = 0

  init() {}

  /// Adds a thread. A daemon may be asleep when the other threads have finished. After the verdict
  /// its sleeps end at their deadlines, if any, so that it finishes and releases what it holds.
  public func thread(
    _ name: String? = nil, isDaemon: Bool = false, _ body: @escaping () -> Void
  ) {
    names += 1
    let name = name ?? "thread \(names)"
    Execution.withCurrent { $0.addThread(name, isDaemon: isDaemon, body) }
  }

  /// Adds a check that runs when all threads have finished. All their steps happen before it.
  public func finally(_ verdict: @escaping () -> Void) { verdicts.append(verdict) }

  /// Keeps an object until the verdict. When a thread drops the last reference to an object, the
  /// reference count orders all other uses before that. The checker does not see reference counts,
  /// so a deinit that reads atomics could find old values.
  public func keep(_ object: AnyObject) { finally { withExtendedLifetime(object) {} } }

  func judge() {
    for verdict in verdicts { verdict() }
    verdicts = []
  }
}

/// A program small enough to run in every possible schedule.
public struct Model: Sendable {
  public let name: String
  let body: @Sendable (Scene) -> Void

  public init(_ name: String, _ body: @escaping @Sendable (Scene) -> Void) {
    self.name = name
    self.body = body
  }
}

/// The functions of the checker that models and the checked program may call while a model runs.
public enum Checker {
  /// Fails the execution unless `condition` holds.
  public static func expect(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt32 = #line
  ) {
    if !condition { fail("\(message()) (\(Report.place(Site(file, line))))") }
  }

  /// Fails the execution.
  public static func fail(_ message: String) -> Never {
    Execution.withCurrent { $0.fail(message) }
  }

  /// The number of the model's running thread; 0 is its stage.
  public static var thread: Int { Execution.withCurrent { $0.running } }

  /// The time of the virtual clock, in nanoseconds.
  public static var nanoseconds: UInt64 { Execution.withCurrent { $0.readClock(.none) } }

  /// Starts a thread during an execution.
  public static func spawn(_ name: String, isDaemon: Bool = false, _ body: @escaping () -> Void) {
    Execution.withCurrent { $0.addThread(name, isDaemon: isDaemon, body) }
  }

  /// Whether a system call that may be refused is refused here.
  public static func mayRefuse(file: StaticString = #fileID, line: UInt32 = #line) -> Bool {
    Execution.withCurrent { $0.mayRefuse(Site(file, line)) }
  }

  /// Whether a mutation omits the call at this site. For stand-ins of system calls.
  public static func leavesOut(file: StaticString = #fileID, line: UInt32 = #line) -> Bool {
    Execution.withCurrent { $0.mutations.change(at: Site(file, line)) } == .skips
  }

  /// Sleeps while the bits `mask` of a word equal those of `expected`. Returns false if the
  /// deadline ended the sleep.
  public static func futexWait(
    _ word: Word, mask: UInt64, while expected: UInt64, until deadline: UInt64?,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> Bool {
    Execution.withCurrent {
      $0.futexWait(word, mask: mask, expected: expected, until: deadline, Site(file, line))
    }
  }

  /// Wakes up to `count` threads that sleep on a word.
  public static func futexWake(
    _ word: Word, count: Int, file: StaticString = #fileID, line: UInt32 = #line
  ) {
    Execution.withCurrent { $0.futexWake(word, count: count, Site(file, line)) }
  }

  /// Counts objects that must have ended at the end of their execution.
  public static func count(made: Int) { Execution.withCurrent { $0.liveThings += made } }
}
