// Room: ModelChecker/Check. Runs a model in every schedule of the strategy, and reports the
// outcome.
import CFibers
import Synchronization

/// The result of a check.
public struct Outcome: Sendable {
  public let model: String
  /// The number of executions, and how many of them were redundant.
  public let executions: Int
  public let redundant: Int
  public let steps: Int
  public let seconds: Double
  /// Whether every schedule of the strategy was run.
  public let isComplete: Bool
  public let failure: Failure?
}

/// A failure of a model.
public struct Failure: Sendable, CustomStringConvertible {
  public let message: String
  public let schedule: Schedule
  /// The interleaving, one line per step.
  public let steps: [TraceLine]
  public let execution: Int

  public var description: String { message }
}

/// One step of a failing execution.
public struct TraceLine: Sendable {
  public let thread: String
  public let text: String
  public let site: Site
}

extension Model {
  /// Runs the model. Only one check runs at a time; other threads wait.
  public func check(_ options: Options = Options()) -> Outcome {
    checking { Check(self, options).run() }
  }

  /// Runs the model once, with the schedule of an earlier failure.
  public func replay(_ schedule: Schedule, _ options: Options = Options()) -> Failure? {
    checking {
      let check = Check(self, options)
      check.warmUp()
      return check.replay(schedule, execution: 0)
    }
  }
}

/// A site that an execution reached, and the strongest ordering requested there: 1 acquires, 2
/// releases, 4 is sequentially consistent.
public struct Visit: Sendable {
  public let site: Site
  public let order: UInt8
}

extension Model {
  /// Returns the site of every atomic operation that the model reaches within the options' limits.
  public func visits(_ options: Options = Options()) -> [Visit] {
    checking {
      let check = Check(self, options)
      check.execution.visits = Visits()
      _ = check.run()
      return check.execution.visits?.all ?? []
    }
  }
}

/// Collects sites while a model runs.
final class Visits {
  private struct Key: Hashable {
    let file: UnsafeRawPointer
    let line: UInt32
  }
  private var orders: [Key: Visit] = [:]

  var all: [Visit] { Array(orders.values) }

  func add(_ site: Site, _ order: Ordering) {
    guard site.file.hasPointerRepresentation else { return }
    let key = Key(file: UnsafeRawPointer(site.file.utf8Start), line: site.line)
    orders[key] = Visit(site: site, order: order.rawValue | (orders[key]?.order ?? 0))
  }
}

private let checkLock = Mutex(())

private func checking<Result>(_ body: () -> Result) -> Result {
  checkLock.withLock { _ in
    defer { gc_fiber_release_signals() }
    return body()
  }
}

private final class Check {
  private static let leak = "Leak: "

  private let model: Model
  private let options: Options
  private let search: Search
  let execution: Execution
  private var number: UInt64

  /// Unique in the process: locations in globals use it to distinguish executions.
  nonisolated(unsafe) private static var numbers: UInt64 = 0

  init(_ model: Model, _ options: Options) {
    self.model = model
    self.options = options
    search = Search(strategy: options.strategy)
    execution = Execution(options: options, search: search)
    number = Self.numbers
    Execution.current = Unmanaged.passUnretained(execution)
  }

  deinit {
    execution.end()
    Self.numbers = number
    Execution.current = nil
  }

  func run() -> Outcome {
    let start = ContinuousClock.now
    var executions = 0
    var redundant = 0
    var steps = 0
    var failure: Failure?
    var isComplete = true
    warmUp()
    search.beginExecution()
    while true {
      let found = runOnce(judgesLeaks: options.findsLeaks)
      executions += 1
      steps += execution.stepCount
      if search.isRedundant { redundant += 1 }
      if let tell = options.onEnd {
        tell(Ending(failure: found, preemptions: search.preemptions))
      } else if let found, let story = explain(search.schedule, found, executions) {
        failure = story
        isComplete = false
        break
      }
      if isEnough(executions) { break }
      if executions >= options.maxExecutions
        || executions % 256 == 0
          && (ContinuousClock.now - start) / .seconds(1) > options.maxSeconds
      {
        isComplete = false
        break
      }
      if !search.advance() { break }
      search.beginExecution()
    }
    return Outcome(
      model: model.name, executions: executions, redundant: redundant, steps: steps,
      seconds: (ContinuousClock.now - start) / .seconds(1), isComplete: isComplete,
      failure: failure)
  }

  private func isEnough(_ executions: Int) -> Bool {
    switch options.strategy {
    case .random(let limit, _), .priorities(_, let limit, _): executions >= limit
    default: false
    }
  }

  /// Runs the model once and ignores the result, so that objects created once in globals are not
  /// reported as leaks later.
  func warmUp() {
    search.beginExecution()
    _ = runOnce(judgesLeaks: false)
    search.forget()
  }

  /// Returns the failure's message.
  private func runOnce(judgesLeaks: Bool) -> String? {
    number += 1
    execution.begin(number: number)
    let before = execution.liveLocations
    let thingsBefore = execution.liveThings
    let (model, execution) = (model, execution)
    execution.perform {
      let scene = Scene()
      model.body(scene)
      execution.runThreads()
      if execution.failure == nil { scene.judge() }
      if execution.failure == nil { execution.windDown() }
    }
    if search.isOffCourse { execution.recordFailure(Report.otherCourse) }
    if let failure = execution.failure { return options.tolerates(failure) ? nil : failure }
    if judgesLeaks {
      let left = execution.liveLocations - before
      let things = execution.liveThings - thingsBefore
      if things != 0 {
        execution.recordFailure(
          Self.leak + "\(things) thing(s) that the model counts are not gone.")
      } else if left != 0 {
        execution.recordFailure(
          Self.leak + "\(left) atomic(s) made in the execution are still there.")
      }
    }
    return execution.failure
  }

  /// Runs the failing schedule again, to record its steps. `nil`: the run did not fail; the
  /// execution had created an object in a global that is created once.
  private func explain(_ schedule: Schedule, _ message: String, _ number: Int) -> Failure? {
    let again = replay(schedule, execution: number)
    if let again, again.message == message { return again }
    if again == nil && message.hasPrefix(Self.leak) { return nil }
    return Failure(
      message: message + "\n(It did not happen again with the same schedule.)",
      schedule: schedule, steps: [], execution: number)
  }

  func replay(_ schedule: Schedule, execution number: Int) -> Failure? {
    let repeated = Search(strategy: options.strategy)
    repeated.repeatExactly(schedule)
    let trace = Trace()
    let execution = Execution(options: options, search: repeated)
    execution.liveLocations = self.execution.liveLocations
    execution.liveThings = self.execution.liveThings
    execution.trace = trace
    Execution.current = Unmanaged.passUnretained(execution)
    defer { Execution.current = Unmanaged.passUnretained(self.execution) }
    repeated.beginExecution()
    let second = Check(model, options, execution, repeated, self.number)
    let message = second.runOnce(judgesLeaks: options.findsLeaks)
    self.number = second.number
    guard let message else { return nil }
    let lines = trace.lines.map { TraceLine(thread: $0.thread, text: $0.text, site: $0.site) }
    return Failure(message: message, schedule: schedule, steps: lines, execution: number)
  }

  private init(
    _ model: Model, _ options: Options, _ execution: Execution, _ search: Search, _ number: UInt64
  ) {
    self.model = model
    self.options = options
    self.search = search
    self.execution = execution
    self.number = number
  }
}
