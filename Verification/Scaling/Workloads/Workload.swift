// Room: Scaling/Workload. What a run measures: a program on the engine's queues, and how many items
// it submits.

struct Workload: Sendable {
  let name: String
  /// One line of what it does.
  let summary: String
  /// The outside threads that submit. Each has a core.
  var producers = Producers.none
  /// Runs `count` items for each core, each of which calls `bench.item()`, and waits for all.
  let run: @Sendable (_ bench: Bench, _ count: Int) -> Void

  enum Producers {
    case none, one, quarter, half, allButOne

    func count(of cores: Int) -> Int {
      switch self {
      case .none: 0
      case .one: 1
      case .quarter: max(1, cores / 4)
      case .half: max(1, cores / 2)
      case .allButOne: max(1, cores - 1)
      }
    }
  }

  static let all: [Workload] = [
    chains, producers, sharedQueue, fanOut, wideFanOut, tree, bursts, backlog, pairs, groups, syncs,
    timers,
  ]
}

/// The engine under test, on the simulated machine.
// SAFETY: all simulated threads are fibers of one thread.
final class Bench: @unchecked Sendable {
  let cores: Int
  let runtime: Runtime
  /// What an item computes, in nanoseconds.
  let work: UInt64
  private(set) var items = 0
  private var expected = 0
  private let gate = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)

  init(cores: Int, width: Int, work: UInt64) {
    self.cores = cores
    self.work = work
    var configuration = Pool.Configuration(
      width: width, readWidth: nil, softThreads: max(64, 4 * width), maxThreads: 1000)
    configuration.readProgramMask = { nil }
    runtime = Runtime(pool: Pool(configuration))
    ModelEvents.runtime = runtime
    ModelKernel.reset()
    // Made now: a fiber must not be switched while another waits for a global of Swift.
    _ = Runtime.shared
    _ = NodeCache.depot
  }

  var global: DispatchQueue { runtime.root(.default) }

  func queue(_ number: Int = 0) -> DispatchQueue {
    DispatchQueue(label: "queue.\(number)", target: runtime.root(.unspecified))
  }

  /// Starts a thread of the program, which is there already when the measurement begins.
  func thread(_ body: @escaping () -> Void) { SimulatedThreads.spawn(isFree: true, body) }

  /// One item's work. The counting costs the simulated machine nothing.
  func item(more: UInt64 = 0) {
    if work + more > 0 { Machine.current.compute(nanoseconds: work + more) }
    items += 1
    if items == expected { Machine.current.wake(gate, count: 1) }
  }

  /// Runs `body`, and sleeps until `count` further items have run.
  func expect(_ count: Int, _ body: () -> Void) {
    expected = items + count
    let end = expected
    body()
    while items < end {
      _ = Machine.current.sleep(on: gate, until: nil) { self.items < end }
    }
  }
}
