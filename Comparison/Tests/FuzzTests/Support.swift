// Purpose: logs written by hand, and the engines, which run in a process of their own.
import FuzzEngine
import FuzzEngineDispatch
import FuzzKit
import TestSupport

/// Parses a log: `c0 r0 s0 e0` means that item 0 was called, returned, started and ended; `x` is
/// the undoing call; `r1=1` has a value.
func log(_ text: String) -> [Event] {
  text.split(separator: " ").map { word in
    let parts = word.dropFirst().split(separator: "=")
    let kinds: [Character: Event.Kind] = [
      "c": .called, "r": .returned, "s": .started, "e": .ended, "x": .released,
    ]
    return Event(kinds[word.first!]!, Int(parts[0])!, value: parts.count > 1 ? Int(parts[1])! : 0)
  }
}

/// Returns the checker's verdict on a program with this log.
func judge(_ program: Program, _ text: String, promises: Capabilities = .all) -> Invariant? {
  Checker(program, log(text), promises: promises).violation?.invariant
}

func async(_ id: Int, on queue: Int = 0, barrier: Bool = false, _ body: Op...) -> Op {
  .submit(Submission(Item(id, body), queue: queue, isBarrier: barrier))
}

func sync(_ id: Int, on queue: Int = 0, barrier: Bool = false, _ body: Op...) -> Op {
  .submit(Submission(Item(id, body), queue: queue, way: .sync, isBarrier: barrier))
}

func handle(_ id: Int, on queue: Int = 0, way: Submission.Way = .async, _ body: Op...) -> Op {
  .submit(Submission(Item(id, body), queue: queue, way: way, hasHandle: true))
}

func task(_ id: Int, on queue: Int = 0, way: Submission.Way = .task, _ body: Op...) -> Op {
  .submit(Submission(Item(id, body), queue: queue, way: way))
}

func busyWait(_ id: Int, for item: Int, until milestone: Milestone = .begun) -> Op {
  .busyWait(id: id, item: item, until: milestone, by: Polling(.nap, amount: 50))
}

/// A meeting whose members are the items `id + 1`, `id + 2` …
func meeting(
  _ id: Int, on queues: Int..., barrier: Bool = false, by polling: Polling = Polling(.spin)
) -> Op {
  let members = queues.enumerated().map { index, queue in
    Submission(Item(id + 1 + index), queue: queue, isBarrier: barrier)
  }
  return .meeting(id: id, by: polling, members)
}

func member(_ id: Int, of group: Int = 0, on queue: Int = 0) -> Op {
  .submit(Submission(Item(id), queue: queue, membership: .init(group)))
}

/// A program with one driver.
func program(_ queues: QueueSpec..., groups: Int = 0, semaphores: [Int] = [], do ops: [Op])
  -> Program
{
  Program(
    queues: queues, groups: (0..<groups).map { _ in GroupSpec() },
    semaphores: semaphores.map { SemaphoreSpec(value: $0) }, drivers: [ops])
}

enum EngineName: String, CaseIterable, Sendable {
  case ours, toolchain

  var capabilities: Capabilities {
    switch self {
    case .ours: FuzzEngine.ThisEngine.capabilities
    case .toolchain: FuzzEngineDispatch.ThisEngine.capabilities
    }
  }

  /// Runs the command in a separate process. In this one the toolchain's Dispatch also runs the
  /// tests, and while they wait it lends their threads to no other work.
  func fuzz(_ arguments: String...) -> ChildResult { fuzz(arguments) }

  func fuzz(_ arguments: [String]) -> ChildResult {
    // Longer than any limit that the tests pass to the command.
    runChild(
      ["\(buildFolder)/fuzz", "--engine", rawValue] + arguments, seconds: 3 * deadlineSeconds)
  }
}
