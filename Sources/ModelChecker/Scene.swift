// Room: ModelChecker/Scene. A model: what there is, the threads that use it, and what must be true in the end.

/// What a model's body sets up, once for each execution.
public final class Scene {
  private var verdicts: [() -> Void] = []
  private var names = 0

  init() {}

  /// Adds a thread. A daemon may be asleep when the others have finished. After the verdict its sleeps end
  /// by their deadlines, if they have any, so that it comes to its end and lets go of what it holds.
  public func thread(
    _ name: String? = nil, isDaemon: Bool = false, _ body: @escaping () -> Void
  ) {
    names += 1
    let name = name ?? "thread \(names)"
    Execution.withCurrent { $0.addThread(name, isDaemon: isDaemon, body) }
  }

  /// What is checked when all threads have finished. All they did has happened before.
  public func finally(_ verdict: @escaping () -> Void) { verdicts.append(verdict) }

  /// Keeps an object until the verdict. A thread that drops the last reference to an object has all others'
  /// uses of it behind it, by the reference count, which the checker does not see: a deinit that reads
  /// atomics could find old values there.
  public func keep(_ object: AnyObject) { finally { withExtendedLifetime(object) {} } }

  func judge() {
    for verdict in verdicts { verdict() }
    verdicts = []
  }
}

/// A program small enough to be run in every way that it can run.
public struct Model: Sendable {
  public let name: String
  let body: @Sendable (Scene) -> Void

  public init(_ name: String, _ body: @escaping @Sendable (Scene) -> Void) {
    self.name = name
    self.body = body
  }
}

/// What models and the checked program may ask of the checker while a model runs.
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

  /// The number of the running thread of the model; 0: its stage.
  public static var thread: Int { Execution.withCurrent { $0.running } }

  /// The virtual clock.
  public static var nanoseconds: UInt64 { Execution.withCurrent { $0.readClock(.none) } }

  /// Starts a thread in the middle of an execution.
  public static func spawn(_ name: String, isDaemon: Bool = false, _ body: @escaping () -> Void) {
    Execution.withCurrent { $0.addThread(name, isDaemon: isDaemon, body) }
  }

  /// Whether a system call that may be refused is refused.
  public static func mayRefuse(file: StaticString = #fileID, line: UInt32 = #line) -> Bool {
    Execution.withCurrent { $0.mayRefuse(Site(file, line)) }
  }

  /// Whether a mutation leaves out what is called for at that place: for what stands in for a system call.
  public static func leavesOut(file: StaticString = #fileID, line: UInt32 = #line) -> Bool {
    Execution.withCurrent { $0.mutations.change(at: Site(file, line)) } == .skips
  }

  /// Sleeps while the bits `mask` of a word are those of `expected`. False: the deadline came first.
  public static func futexWait(
    _ word: Word, mask: UInt64, while expected: UInt64, until deadline: UInt64?,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> Bool {
    Execution.withCurrent {
      $0.futexWait(word, mask: mask, expected: expected, until: deadline, Site(file, line))
    }
  }

  public static func futexWake(
    _ word: Word, count: Int, file: StaticString = #fileID, line: UInt32 = #line
  ) {
    Execution.withCurrent { $0.futexWake(word, count: count, Site(file, line)) }
  }

  /// Counts a thing that must be gone at the end of its execution.
  public static func count(made: Int) { Execution.withCurrent { $0.liveThings += made } }
}
