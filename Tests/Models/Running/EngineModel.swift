// Room: Models/EngineModel. A model of a part of the engine, and how far it is checked. Each is a
// scene of the engine's real objects: two or three threads that use them, and what must be true in
// the end. `reach` says what a run of it proves.

/// How far a model is taken.
enum Reach {
  /// Every schedule, in both memories.
  case exhausted
  /// Every schedule where each load returns the latest value; random and priority schedules in weak
  /// memory.
  case exhaustedStrong
  /// Too large for that: every schedule with at most so many preemptions, and a million each of
  /// random and priority schedules, in both memories.
  case bounded(preemptions: Int)
}

struct EngineModel {
  let model: Model
  let reach: Reach
  /// What may go wrong in it besides the schedule.
  let options: Options

  var name: String { model.name }

  /// - Parameters:
  ///   - name: the room, a colon, and what is shown, in words.
  ///   - adjust: what may go wrong besides the schedule: time-outs, spurious wake-ups, refusals.
  ///   - scene: sets up objects and threads, once for each execution.
  init(
    _ name: String, reach: Reach = .exhausted, adjust: (inout Options) -> Void = { _ in },
    _ scene: @escaping @Sendable (Scene) -> Void
  ) {
    model = Model(name) { stage in
      ModelThreads.reset()
      scene(stage)
    }
    self.reach = reach
    var options = Options()
    // A model whose subject is a deadline says so.
    options.timePasses = false
    adjust(&options)
    self.options = options
  }
}

/// One run of a model.
struct Run {
  let name: String
  let options: Options
}

extension EngineModel {
  /// The runs that a model's reach stands for. `share`: of the random ones, how much; 1 is all.
  func runs(share: Double, seed: UInt64) -> [Run] {
    var runs: [Run] = []
    for isWeak in [false, true] {
      let memory = isWeak ? "weak" : "strong"
      switch reach {
      case .exhausted:
        runs.append(run("all, \(memory)", .exhaustive, isWeak))
      case .exhaustedStrong:
        if isWeak {
          runs += sampled(memory, isWeak, share, seed)
        } else {
          runs.append(run("all, \(memory)", .exhaustive, isWeak))
        }
      case .bounded(let preemptions):
        if !isWeak {
          runs.append(
            run("≤ \(preemptions) preemptions, strong", .bounded(preemptions: preemptions), isWeak))
        }
        runs += sampled(memory, isWeak, share, seed)
      }
    }
    return runs
  }

  private func sampled(_ memory: String, _ isWeak: Bool, _ share: Double, _ seed: UInt64) -> [Run] {
    let count = max(1, Int(1_000_000 * share))
    return [
      run("random, \(memory)", .random(executions: count, seed: seed), isWeak),
      run("priorities, \(memory)", .priorities(depth: 3, executions: count, seed: seed), isWeak),
    ]
  }

  private func run(_ name: String, _ strategy: Strategy, _ isWeak: Bool) -> Run {
    var options = options
    options.strategy = strategy
    options.isWeak = isWeak
    return Run(name: name, options: options)
  }
}
