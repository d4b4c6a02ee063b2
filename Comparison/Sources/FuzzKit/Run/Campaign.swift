// Purpose: runs programs in this process until one breaks a promise.

public struct Campaign<Engine: TestedEngine> {
  public struct Finding: Sendable {
    public let index: Int
    public let program: Program
    public let events: [Event]
    public let violation: Violation
  }

  public struct Slowest: Sendable {
    public var index = 0
    public var milliseconds = 0
  }

  private let fault: Fault?
  private let crew: Crew
  /// Called before each run, with the run's log.
  private let watch: (Int, Program, EventLog) -> Void
  /// The last runs. Their logs must not grow any more.
  private var recent: [(index: Int, program: Program, verdict: Verdict)] = []
  private let remembered = 8
  /// The longest run of the last campaign.
  public private(set) var slowest = Slowest()

  public init(
    fault: Fault? = nil, crew: Crew,
    watch: @escaping (Int, Program, EventLog) -> Void = { _, _, _ in }
  ) {
    self.fault = fault
    self.crew = crew
    self.watch = watch
  }

  /// Runs programs of the campaign `seed`; returns the first that fails.
  public mutating func run(
    seed: UInt64, _ indices: Range<Int>, capabilities: Capabilities = Engine.capabilities,
    busyPercent: Int = Generator.defaultBusyPercent
  ) -> Finding? {
    slowest = Slowest()
    for index in indices {
      let program = Generator.program(
        seed: seed, index: index, capabilities: capabilities, busyPercent: busyPercent)
      if let finding = runOnce(program, index) { return finding }
    }
    return lateFinding(keeping: 0)
  }

  /// Runs one program repeatedly.
  public mutating func run(_ program: Program, times: Int) -> Finding? {
    slowest = Slowest()
    for time in 0..<times {
      if let finding = runOnce(program, time) { return finding }
    }
    return lateFinding(keeping: 0)
  }

  private mutating func runOnce(_ program: Program, _ index: Int) -> Finding? {
    let start = monotonicNanoseconds()
    let verdict = Engine.judge(program, fault: fault, crew: crew) { watch(index, program, $0) }
    let milliseconds = Int((monotonicNanoseconds() - start) / 1_000_000)
    if milliseconds > slowest.milliseconds {
      slowest = Slowest(index: index, milliseconds: milliseconds)
    }
    if let violation = verdict.violation {
      recent = []
      return Finding(
        index: index, program: program, events: verdict.events, violation: violation)
    }
    recent.append((index, program, verdict))
    return lateFinding(keeping: remembered)
  }

  /// Drops older runs. Returns the first whose log has grown since its end.
  private mutating func lateFinding(keeping count: Int) -> Finding? {
    while recent.count > count {
      let run = recent.removeFirst()
      if run.verdict.log.count == run.verdict.events.count { continue }
      let events = run.verdict.log.events
      let late = events.dropFirst(run.verdict.events.count).map(\.id)
      recent = []
      return Finding(
        index: run.index, program: run.program, events: events,
        violation: Violation(
          .nothingAfterwards, "after the end of the run there were events of \(late)", steps: late))
    }
    return nil
  }
}
