// A pool for one test. Pools live as long as their process, so a test leaves its pool behind, at
// rest.
import TestSupport

@testable import GrandCentralCore

extension Pool {
  /// Makes a pool that nothing else uses, with at most `threads` threads. If `isWatched`, items
  /// that sleep make room for others; if not, the width is exact.
  static func own(
    width: Int, threads: Int, keepAliveNanoseconds: UInt64 = 5_000_000_000,
    spawn: Spawn? = nil, isWatched: Bool = true
  ) -> Pool {
    // Threads return their nodes through the exit handler of the shared runtime.
    _ = Runtime.shared
    var configuration = Configuration(
      width: width, readWidth: nil, softThreads: threads, maxThreads: threads,
      keepAliveNanoseconds: keepAliveNanoseconds)
    if let spawn { configuration.spawn = spawn }
    // A monitor that is marked as running is never started.
    let pool = Pool(configuration, monitor: Monitor(mode: isWatched ? .absent : .watching))
    // A refusal that a test makes on purpose is not reported.
    pool.reportedRefusal.store(spawn != nil, ordering: .relaxed)
    return kept(pool)
  }

  func submit(
    _ kind: WorkKind = .items, band: Band = .default, _ work: @escaping @Sendable () -> Void
  ) {
    submit(Self.node(kind, band, work), kind, band: band, from: currentThread())
  }

  static func node(
    _ kind: WorkKind, _ band: Band, _ work: @escaping @Sendable () -> Void
  ) -> WorkNode {
    let node = NodeCache.take(currentThread())
    node.putClosure(work)
    node.entry = WorkNode.closureEntry
    node.traits = WorkTraits(qos: PackedQoS(band: band))
    // A lane as an overcommitting global queue's items are.
    if kind == .lanes { node.traits.insert(.overcommit) }
    return node
  }

  /// Makes a pool of width 1, without a monitor, whose only active worker runs work until the latch
  /// opens.
  static func occupied(
    by kind: WorkKind, band: Band = .default, until isOver: Latch, threads: Int = 4
  ) -> Pool {
    let pool = own(width: 1, threads: threads, isWatched: false)
    let begun = Latch()
    pool.submit(kind, band: band) {
      begun.open()
      _ = isOver.wait()
    }
    _ = begun.wait()
    return pool
  }

  /// Gives a pool that is occupied so a second thread, which becomes idle.
  func makeSecondThread() -> Bool {
    restingLanes.store(1, ordering: .relaxed)
    let first = Latch()
    submit(.lanes) { first.open() }
    defer { restingLanes.store(0, ordering: .relaxed) }
    return first.wait()
  }

  /// Submits work as a thread does that sees a searcher, which then stops.
  func submitBesideSearch(_ kind: WorkKind, _ work: @escaping @Sendable () -> Void) {
    let node = Self.node(kind, .default, work)
    let key = InjectorKey(kind: kind, band: .default)
    withInjector(key) { $0.push(node) }
    markWaiting(key)
    wakeIfNeeded()
  }

  /// Waits until every worker is idle. Returns false on timeout. A worker that the monitor does not
  /// count for a moment is neither active nor idle.
  func comesToRest(seconds: Int = deadlineSeconds) -> Bool {
    eventually(seconds: seconds) {
      let seen = state.load(ordering: .sequentiallyConsistent)
      return seen.active == 0 && seen.searching == 0 && seen.idle == seen.threads && !hasWork()
    }
  }

  /// Lists the faults in the counts of a pool that should be at rest.
  func faultsAtRest(seconds: Int = deadlineSeconds) -> [String] {
    guard comesToRest(seconds: seconds) else { return ["never at rest: \(describeBooks())"] }
    // A worker counts itself idle shortly before it leaves its band.
    _ = eventually { bandUse.load(ordering: .relaxed) == 0 }
    var faults: [String] = []
    idleLock.withLock {
      let seen = state.load(ordering: .sequentiallyConsistent)
      if seen.idle != idleStack.count { faults.append("\(idleStack.count) on the idle stack") }
      if seen.threads != seen.idle { faults.append("threads that are neither idle nor active") }
      if laneReserve.idle.count != laneReserve.threads { faults.append("a reserve that is awake") }
      if Set(idleStack.workers.map(\.index)).count != idleStack.count {
        faults.append("idle twice")
      }
      if !idleStack.workers.allSatisfy(\.isOnIdleStack) {
        faults.append("idle and not known to be")
      }
    }
    if bandUse.load(ordering: .relaxed) != 0 { faults.append("bands in use") }
    return faults.isEmpty ? [] : faults + [describeBooks()]
  }

  private func describeBooks() -> String {
    let seen = state.load(ordering: .relaxed)
    return "threads \(seen.threads) idle \(seen.idle) searching \(seen.searching) "
      + "active \(seen.active) bands \(bandUse.load(ordering: .relaxed)) work \(hasWork())"
  }
}

/// Memory for nodes, which `context` numbers. It is never freed: local queues keep stale addresses.
struct NodeBlock: @unchecked Sendable {
  let nodes: [WorkNode]

  init(_ count: Int) {
    let memory = kept(
      UnsafeMutableRawPointer.allocate(
        byteCount: count * WorkNode.bytes, alignment: WorkNode.bytes))
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: count * WorkNode.bytes)
    nodes = (0..<count).map { WorkNode(memory + $0 * WorkNode.bytes) }
    for (number, node) in nodes.enumerated() { node.number = number }
  }
}

extension WorkNode {
  /// The node's number in its block.
  var number: Int {
    get { Int(bitPattern: context) - 1 }
    nonmutating set { context = UnsafeMutableRawPointer(bitPattern: newValue + 1) }
  }
}

/// Counts how often each of `size` events happened, for many threads.
final class Tally: @unchecked Sendable {
  private let counts: UnsafeMutablePointer<Atomic<Int>>
  let size: Int

  init(_ size: Int) {
    self.size = size
    counts = .allocate(capacity: size)
    for index in 0..<size { (counts + index).initialize(to: Atomic(0)) }
  }

  deinit {
    counts.deinitialize(count: size)
    counts.deallocate()
  }

  func add(_ index: Int) { counts[index].wrappingAdd(1, ordering: .relaxed) }

  func count(_ index: Int) -> Int { counts[index].load(ordering: .relaxed) }

  /// The events that did not happen exactly once, with their counts.
  var exceptions: [(index: Int, count: Int)] {
    (0..<size).map { ($0, count($0)) }.filter { $0.1 != 1 }
  }
}

/// A shared atomic number, for use where a lock would let a worker sleep.
final class Number: Sendable {
  private let value: Atomic<Int>
  private let highest = Atomic<Int>(0)

  init(_ value: Int = 0) { self.value = Atomic(value) }

  var now: Int { value.load(ordering: .acquiring) }
  var peak: Int { highest.load(ordering: .relaxed) }

  @discardableResult
  func add(_ amount: Int = 1) -> Int {
    let next = value.wrappingAdd(amount, ordering: .acquiringAndReleasing).newValue
    highest.max(next, ordering: .relaxed)
    return next
  }
}
