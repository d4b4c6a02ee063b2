// Schedules for stress tests: the CPUs that the threads run on, their number, and delays between
// operations. A seed determines them, so a run can be replayed as far as the kernel allows.
import CFaults
import Glibc

public final class Schedule: Sendable {
  public enum Shape: String, CaseIterable, Sendable {
    /// All threads on one CPU: a thread loses the CPU in the middle of an operation.
    case oneCPU
    /// Half of the threads on one half of the CPUs, the rest on the other half.
    case halves
    /// Threads move between CPUs while they run.
    case alternating
    /// Many more threads than CPUs.
    case crowded
    /// Yields, short spins and changes of scheduling class between operations.
    case jittered
    /// All of the above.
    case mixed
  }

  public let shape: Shape
  private let seed: UInt64
  private let cpus: [UInt64]
  private let bound = Box<Set<Int32>>([])
  /// Whether a thread may return from SCHED_IDLE, which needs a privilege: sched(7).
  private let mayIdle = geteuid() == 0

  /// Draws the seed and prints it; GRANDCENTRAL_SEED replays a run.
  public init(_ shape: Shape, for test: String) {
    self.shape = shape
    seed = SeededGenerator(for: "\(test), \(shape)").seed
    let all = faults_cpus()
    cpus = (0..<64).map { 1 << $0 }.filter { all & $0 != 0 }
  }

  /// The number of client threads.
  public var threads: Int {
    switch shape {
    case .crowded: 32
    case .mixed: 16
    default: 4
    }
  }

  /// Each thread's share of `total` operations, times GRANDCENTRAL_STRESS. It is smaller under a
  /// sanitizer, where each operation takes several times as long.
  public func share(of total: Int) -> Int {
    max(1, stressed(total) / threads / (faults_is_sanitized() ? 6 : 1))
  }

  /// Runs `body` on all client threads, with the thread's number and random numbers. Returns false
  /// on timeout.
  public func run(_ body: @escaping @Sendable (Int, inout SeededGenerator) -> Void) -> Bool {
    onThreads(threads) { [self] number in
      var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9e37_79b9)
      place(number, move: 0)
      body(number, &random)
    }
  }

  /// Delays a client between two operations.
  public func step(_ random: inout SeededGenerator) {
    let draw = random.next()
    if shape == .alternating || shape == .mixed, draw >> 32 % 8 == 0 {
      place(Int(draw >> 40 & 0xff), move: Int(draw >> 48))
    }
    if shape == .jittered || shape == .mixed { hesitate(draw) }
  }

  /// Delays a work item; `number` identifies the item.
  public func step(_ number: Int) {
    var random = SeededGenerator(seed: seed ^ UInt64(truncatingIfNeeded: number) &* 0xff51_afd7)
    // Also binds the worker that runs the item.
    if random.next() % 8 == 0 { place(number, move: number) }
    step(&random)
  }

  /// Allows every thread to run on all CPUs again.
  public func end() {
    let all = cpus.reduce(0, |)
    // A worker may have ended meanwhile, and another thread may have its id.
    for thread in bound.value where access("/proc/self/task/\(thread)", F_OK) == 0 {
      _ = faults_bind(thread, all)
    }
  }

  private func place(_ number: Int, move: Int) {
    guard let mask = mask(number, move: move) else { return }
    let thread = faults_thread_id()
    if !bound.value.contains(thread) { bound.value.insert(thread) }
    _ = faults_bind(thread, mask)
  }

  private func mask(_ number: Int, move: Int) -> UInt64? {
    guard cpus.count > 1 else { return nil }
    switch shape {
    case .oneCPU: return cpus[0]
    case .halves:
      let half = cpus.count / 2
      return (number % 2 == 0 ? cpus[..<half] : cpus[half...]).reduce(0, |)
    case .alternating, .mixed: return cpus[(number + move) % cpus.count]
    case .crowded, .jittered: return nil
    }
  }

  private func hesitate(_ draw: UInt64) {
    switch draw % 16 {
    case 0, 1: sched_yield()
    case 2, 3: spin(for: draw >> 8 % 400)
    case 4: spin(for: 4000)
    case 5: change(to: FAULTS_BATCH)
    case 6 where mayIdle: change(to: FAULTS_IDLE)
    default: break
    }
  }

  private func spin(for rounds: UInt64) {
    for _ in 0..<rounds { faults_spin() }
  }

  private func change(to policy: faults_policy) {
    _ = faults_schedule(0, policy)
    sched_yield()
    _ = faults_schedule(0, FAULTS_NORMAL)
  }
}
