// The wait-for graph of a snapshot: which thread must continue before which other one can.
//   thread ─waits for→ queue ─held by→ thread ─waits for→ …
// A thread holds the queues that its record names, and their targets. A queue without a holder may
// have its activation in line at its target, so the walk continues there.

package struct Analysis {
  package let snapshot: Snapshot
  /// The time to which ages are computed; the board's latest time if the process has ended.
  package let now: UInt64
  /// Waits that last shorter are not reported.
  package let stuckAfter: UInt64
  /// Whether a running thread sleeps in the kernel; `nil`: not known.
  package let isAsleep: (UInt32) -> Bool?
  /// Whether a running thread sleeps on a lock or a condition: asked for threads that sleep.
  let isInLock: (UInt32) -> Bool
  /// Whether a timer or a descriptor may bring work to the process.
  let mayGetEvents: () -> Bool
  /// Whether the program may use Swift Concurrency, whose actors queue their jobs themselves.
  let mayHaveActors: () -> Bool
  /// The threads of the program that have no record.
  let strangers: () -> Strangers
  private let holdersOf: [UInt32: [Int]]
  private let indexOf: [UInt32: Int]
  /// Since when a thread has waited to enter a queue alone, by the queue's place.
  private let barrierSince: [UInt32: UInt64]

  package init(
    _ snapshot: Snapshot, now: UInt64, stuckAfter: UInt64, isAsleep: @escaping (UInt32) -> Bool?,
    isInLock: @escaping (UInt32) -> Bool = { _ in false },
    mayGetEvents: @escaping () -> Bool = { false },
    mayHaveActors: @escaping () -> Bool = { false },
    strangers: @escaping () -> Strangers = { Strangers() }
  ) {
    self.snapshot = snapshot
    self.now = now
    self.stuckAfter = stuckAfter
    self.isAsleep = isAsleep
    self.isInLock = isInLock
    self.mayGetEvents = mayGetEvents
    self.mayHaveActors = mayHaveActors
    self.strangers = strangers
    var holders: [UInt32: [Int]] = [:]
    var indices: [UInt32: Int] = [:]
    var barriers: [UInt32: UInt64] = [:]
    for (index, thread) in snapshot.threads.enumerated() {
      indices[thread.id] = index
      guard thread.activity != .idle else { continue }
      let inside = thread.held + [thread.queue]
      // A waiting thread is certainly in its queues. A running one may have left the last that it
      // noted.
      let isCertain = thread.activity == .waiting
      if isCertain && thread.waitsForBarrier {
        barriers[thread.awaitedQueue] = min(
          thread.since, barriers[thread.awaitedQueue] ?? thread.since)
      }
      for place in Set(inside.flatMap { Self.hierarchy(of: $0, in: snapshot) }) {
        let at = isCertain ? 0 : holders[place]?.count ?? 0
        holders[place, default: []].insert(index, at: at)
      }
      if thread.isMain {
        for queue in snapshot.queues.values
        where queue.kind == .main && !inside.contains(queue.place) {
          holders[queue.place, default: []].append(index)
        }
      }
    }
    holdersOf = holders
    indexOf = indices
    barrierSince = barriers
  }

  /// A damaged board may show a chain of targets of any length.
  private static var maxTargets: Int { 256 }

  /// A queue and its targets below the global queue.
  private static func hierarchy(of place: UInt32, in snapshot: Snapshot) -> [UInt32] {
    var path: [UInt32] = []
    var next = place
    while let queue = snapshot.queues[next], queue.kind != .global, !path.contains(next),
      path.count < maxTargets
    {
      path.append(next)
      next = queue.target
    }
    return path
  }

  package func age(_ since: UInt64) -> UInt64 { since == 0 || since > now ? 0 : now - since }

  /// Whether a wait or a suspension has lasted for less than `nanoseconds`.
  func hasChange(within nanoseconds: UInt64) -> Bool {
    waiting.contains { age(snapshot.threads[$0].since) < nanoseconds }
      || snapshot.queues.values.contains {
        $0.suspendedSince != 0 && age($0.suspendedSince) < nanoseconds
      }
  }

  package func isOld(_ thread: ThreadRecord) -> Bool { age(thread.since) >= stuckAfter }

  /// What must continue before a thread can, as far as known.
  struct Obstacle {
    var threads: [Int] = []
    /// The queue in which they are: the awaited one, or one of its targets; 0: not known.
    var place: UInt32 = 0
    /// Whether each of them must continue. Otherwise one of those that share a queue may suffice.
    var needsAll = false
  }

  /// The threads that must continue before the thread can, as far as known.
  func ahead(of index: Int) -> [Int] { obstacle(to: index).threads }

  func obstacle(to index: Int) -> Obstacle {
    let thread = snapshot.threads[index]
    guard thread.activity == .waiting else { return Obstacle() }
    let recorded = indexOf[thread.holder].flatMap { $0 == index ? nil : $0 }
    switch thread.wait {
    case .queue: break
    case .workItem: if let recorded { return Obstacle(threads: [recorded]) }
    // The thread that runs the function must return from it.
    case .once: return Obstacle(threads: recorded.map { [$0] } ?? [])
    case .group, .semaphore, .loop, .file, .none: return Obstacle()
    }
    for place in Self.hierarchy(of: thread.awaitedQueue, in: snapshot) {
      guard let queue = snapshot.queues[place], queue.suspendedSince == 0 else { return Obstacle() }
      // An item of a concurrent queue starts beside the others: they need not end first.
      if thread.wait == .workItem && queue.kind == .concurrent { continue }
      let holders = holdersOf[place] ?? []
      if waitsForAll(thread, at: place), !holders.isEmpty {
        return Obstacle(threads: holders, place: place, needsAll: true)
      }
      let found = holders.filter { $0 != index }
      if !found.isEmpty { return Obstacle(threads: found, place: place) }
      // The owner that the thread saw when its wait began. It comes before the owners of targets:
      // it is inside the awaited queue itself.
      if place == thread.awaitedQueue, let recorded, mayHold(place, recorded) {
        return Obstacle(threads: [recorded], place: place)
      }
    }
    return Obstacle()
  }

  /// Whether all threads inside of a concurrent queue must leave before the thread enters: it
  /// enters alone, or beside others and behind a thread that does. They include itself, if it is
  /// inside.
  private func waitsForAll(_ thread: ThreadRecord, at place: UInt32) -> Bool {
    guard thread.wait == .queue, thread.awaitedQueue == place,
      snapshot.queues[place]?.kind == .concurrent
    else { return false }
    return barrierSince[place].map { $0 <= thread.since } ?? false
  }

  /// Whether a thread without a record of the queue may be inside, by a sync() that did not wait,
  /// or on its way into one of the queue's targets. A thread that waits otherwise has a record of
  /// all queues that it is in, and an idle one is in none.
  private func mayHold(_ place: UInt32, _ index: Int) -> Bool {
    let thread = snapshot.threads[index]
    switch thread.activity {
    case .running: return true
    case .waiting:
      let targets = Self.hierarchy(of: place, in: snapshot).dropFirst()
      return thread.held.count == BoardLayout.Thread.maxHeld
        || thread.wait == .queue && targets.contains(thread.awaitedQueue)
    case .none, .idle: return false
    }
  }

  /// The threads from `index` to the one that does not wait for a known thread, or to the first
  /// that is met twice. Where several threads must continue, the chain goes through one that leads
  /// to a cycle, if there is one.
  func chain(from index: Int) -> (path: [Int], cycle: [Int]?) {
    var visited: Set<Int> = []
    var first: [Int]?
    var path: [Int] = []
    /// Follows the threads ahead, each at most once. Returns the cycle.
    func follow(_ next: Int) -> [Int]? {
      if let start = path.firstIndex(of: next) { return Array(path[start...]) }
      if !visited.insert(next).inserted { return nil }
      path.append(next)
      let obstacle = obstacle(to: next)
      for other in obstacle.needsAll ? obstacle.threads[...] : obstacle.threads.prefix(1) {
        if let cycle = follow(other) { return cycle }
      }
      if first == nil { first = path }
      path.removeLast()
      return nil
    }
    let cycle = follow(index)
    return (cycle == nil ? first ?? [index] : path, cycle)
  }

  var waiting: [Int] {
    snapshot.threads.indices.filter { snapshot.threads[$0].activity == .waiting }
  }

  // MARK: Findings

  /// Whether no thread of a cycle waits for a queue that a thread outside of the cycle shares and
  /// may leave, which makes room. In another queue, one thread alone can be inside.
  private func isCertain(_ cycle: [Int]) -> Bool {
    cycle.allSatisfy { index in
      let obstacle = obstacle(to: index)
      guard !obstacle.needsAll, snapshot.queues[obstacle.place]?.kind == .concurrent else {
        return true
      }
      return obstacle.threads.allSatisfy { cycle.contains($0) || chain(from: $0).cycle != nil }
    }
  }

  /// What hangs, the most certain first.
  package func findings() -> [Finding] {
    let deadlocks = deadlocks()
    var chains: [Int: [[Int]]] = [:]
    for index in waiting where isOld(snapshot.threads[index]) {
      let chain = chain(from: index)
      guard chain.cycle == nil, chain.path.count > 1 else { continue }
      chains[chain.path[chain.path.count - 1], default: []].append(chain.path)
    }
    let ends = chains.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
      .compactMap { stuck(behind: $0.key, $0.value) }
    return deadlocks + explosion() + suspended()
      + ends.filter { $0.kind == .suspectedDeadlock } + ends.filter { $0.kind == .stuckQueue }
      + strayHolders() + forgottenLeave()
  }

  private func deadlocks() -> [Finding] {
    var seen: Set<[Int]> = []
    return waiting.compactMap { index in
      guard let cycle = chain(from: index).cycle, seen.insert(cycle.sorted()).inserted,
        isCertain(cycle)
      else { return nil }
      return Finding(
        kind: .deadlock, subject: "\(cycle.map { snapshot.threads[$0].id }.sorted())",
        headline: FindingWords.deadlock(threads: cycle.count),
        details: links(cycle, isClosed: true) + [FindingWords.deadlockAdvice],
        isYoung: !cycle.allSatisfy { isOld(snapshot.threads[$0]) })
    }
  }

  /// One line for each wait of a path.
  private func links(_ path: [Int], isClosed: Bool) -> [String] {
    path.indices.compactMap { step in
      let thread = snapshot.threads[path[step]]
      let isLast = step == path.count - 1
      let next = isLast && !isClosed ? nil : snapshot.threads[path[(step + 1) % path.count]]
      let place = obstacle(to: path[step]).place
      let target = place == 0 || place == thread.awaitedQueue ? nil : label(place)
      return "\(describe(thread)) \(doing(thread))"
        + (next.map { FindingWords.held(by: describe($0), target: target) } ?? "")
    }
  }

  private func stuck(behind index: Int, _ paths: [[Int]]) -> Finding? {
    let end = snapshot.threads[index]
    let longest = paths.max { $0.count < $1.count } ?? []
    let waiter = snapshot.threads[longest[max(0, longest.count - 2)]]
    let count = paths.count
    if end.activity == .waiting {
      let kind: Finding.Kind = end.wait == .queue ? .stuckQueue : .suspectedDeadlock
      guard isOld(end) else { return nil }
      if kind == .suspectedDeadlock {
        let queue: String? = waiter.wait == .once ? nil : label(waiter.awaitedQueue)
        let item = queue.map { "queue '\($0)', whose item" } ?? "dispatch_once, whose function"
        let work = queue.map { "work on '\($0)', or by " } ?? ""
        return Finding(
          kind: kind, subject: subject(of: waiter),
          headline: "Suspected deadlock: \(Self.threads(count, "wait")) for \(item) \(doing(end)).",
          details: links(longest, isClosed: false) + [
            "If the wait ends by \(work)one of these threads, it never ends."
          ])
      }
    } else if isAsleep(end.id) == false {
      return nil
    }
    return Finding(
      kind: .stuckQueue, subject: subject(of: waiter), headline: stuckHeadline(waiter, count),
      details: links(longest, isClosed: false))
  }

  /// What the waits for a queue, or for one word of dispatch_once, have in common.
  private func subject(of waiter: ThreadRecord) -> String {
    waiter.wait == .once ? "dispatch_once \(waiter.object)" : label(waiter.awaitedQueue)
  }

  private func stuckHeadline(_ waiter: ThreadRecord, _ count: Int) -> String {
    let place =
      waiter.wait == .once
      ? "dispatch_once is stuck in its function"
      : "Queue '\(label(waiter.awaitedQueue))' is stuck behind one item"
    return "\(place): \(Self.threads(count, "wait")) for it."
  }

  /// Queues whose holder has no record, since it entered by an idle sync(), and functions of
  /// dispatch_once whose thread has none.
  private func strayHolders() -> [Finding] {
    // By the record of the queue, or the address of the word, which is greater.
    var waiters: [UInt64: [ThreadRecord]] = [:]
    for index in waiting {
      let thread = snapshot.threads[index]
      let isOnce = thread.wait == .once
      guard isOnce || thread.wait == .queue, isOld(thread), ahead(of: index).isEmpty,
        thread.holder != 0, indexOf[thread.holder] == nil,
        snapshot.queues[thread.awaitedQueue]?.suspendedSince ?? 0 == 0
      else { continue }
      waiters[isOnce ? thread.object : UInt64(thread.awaitedQueue), default: []].append(thread)
    }
    return waiters.sorted { $0.key < $1.key }.compactMap { _, threads in
      let (first, holder) = (threads[0], threads[0].holder)
      if isAsleep(holder) == false { return nil }
      return Finding(
        kind: .stuckQueue, subject: subject(of: first),
        headline: stuckHeadline(first, threads.count),
        details: threads.map {
          "\(describe($0)) \(doing($0))" + FindingWords.held(by: "thread \(holder)")
        })
    }
  }

  /// As many threads that items hold are an explosion.
  static func explosionThreads(_ maxThreads: Int) -> Int {
    max(2, min(64, maxThreads == 0 ? 64 : maxThreads))
  }

  private func explosion() -> [Finding] {
    let fewest = max(Self.explosionThreads(snapshot.maxThreads), snapshot.width + 1)
    // First without the kernel, which knows which of them sleep.
    guard snapshot.threads.count(where: { $0.isWorker && $0.activity != .idle }) >= fewest
    else { return [] }
    let blocked = blockedWorkers
    guard blocked.count >= fewest else { return [] }
    return [
      Finding(
        kind: .explosion, subject: "", headline: FindingWords.explosion(threads: blocked.count),
        details: holders(blocked) + [FindingWords.explosionAdvice])
    ]
  }

  /// The workers that sleep in their items.
  private var blockedWorkers: [ThreadRecord] {
    snapshot.threads.filter { thread in
      thread.isWorker
        && (thread.activity == .waiting
          || thread.activity == .running && isAsleep(thread.id) == true)
    }
  }

  /// The queues that hold workers in items that sleep, and what these wait for: one line each.
  package func holders() -> [String] { holders(blockedWorkers) }

  private func holders(_ blocked: [ThreadRecord]) -> [String] {
    func counts(_ name: (ThreadRecord) -> String) -> [(name: String, count: Int)] {
      Dictionary(grouping: blocked, by: name).map { (name: $0.key, count: $0.value.count) }
        .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }
    return FindingWords.counted(
      FindingWords.holders,
      counts { thread in
        let own = thread.held.first { $0 != 0 } ?? thread.queue
        return own == 0 ? "a global queue" : "'\(label(own))'"
      }) + FindingWords.counted(FindingWords.waits, counts(waitWords))
  }

  private func suspended() -> [Finding] {
    snapshot.queues.values.compactMap { queue in
      guard queue.suspendedSince != 0, age(queue.suspendedSince) >= stuckAfter else { return nil }
      let waiters = snapshot.threads.filter {
        $0.activity == .waiting && $0.awaitedQueue == queue.place
      }
      guard queue.queuedSuspended > 0 || !waiters.isEmpty else { return nil }
      return Finding(
        kind: .forgottenResume, subject: "\(queue.place)",
        headline: "Forgotten resume: queue '\(queue.label)' is suspended since "
          + "\(duration(age(queue.suspendedSince))), and "
          + (queue.queuedSuspended > 0
            ? "\(Self.count(queue.queuedSuspended, "item", "wait")) in it."
            : "\(Self.threads(waiters.count, "wait")) for it."),
        details: waiters.map { "\(describe($0)) \(doing($0))" } + [
          "Call resume() once per suspend(), or activate() on a queue made inactive."
        ])
    }
  }
}
