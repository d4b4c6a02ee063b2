// Room: Models/EngineModel. A model of a part of the engine, and how far it is checked. A model is
// a scene of the engine's real objects: two or three threads that use them, and a verdict on the
// final state. `reach` says what a run proves.

/// How far a model is checked. In strong memory each load returns the latest value.
enum Reach {
  /// Every schedule, in strong and in weak memory.
  case exhausted
  /// Every schedule in strong memory; random and priority schedules in weak memory.
  case exhaustedStrong
  /// For larger models: every schedule with at most `preemptions` preemptions in strong memory; a
  /// million random and a million priority schedules in each memory.
  case bounded(preemptions: Int)
}

struct EngineModel {
  let model: Model
  let reach: Reach
  /// What may fail besides the schedule.
  let options: Options

  var name: String { model.name }

  /// - Parameters:
  ///   - name: the room, a colon, and the behaviour that the model shows.
  ///   - adjust: allows timeouts, spurious wake-ups, spurious failures of exchanges, and refusals.
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
    // Only models whose subject is a deadline let time pass.
    options.timePasses = false
    adjust(&options)
    self.options = options
  }
}

/// One search of a model.
struct Run {
  let name: String
  let options: Options
}

extension EngineModel {
  /// Returns the searches that the model's reach requires. `share` scales the number of random and
  /// priority schedules: 1 is a million each.
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
