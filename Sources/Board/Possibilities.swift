// What looks like a hang and may be a program that waits for events. A program whose last thread
// waits for a semaphore hangs, or is a consumer without work; nothing on the board tells these
// apart. So it is a possibility, or, for a group that no thread can leave, a suspicion.

/// What may hang, in words.
package struct Possibility: Sendable, Equatable {
  package let headline: String
  package let details: [String]
}

extension Analysis {
  /// Whether no thread can continue by itself: all are idle, asleep in the system, or wait for a
  /// group or a semaphore; and none has worked for as long as a wait must last to be reported.
  private var isQuiet: Bool {
    snapshot.threads.allSatisfy { thread in
      switch thread.activity {
      case .none: true
      case .idle: age(thread.since) >= stuckAfter
      case .running: isAsleep(thread.id) == true
      case .waiting: thread.wait == .group || thread.wait == .semaphore
      }
    }
  }

  /// Whether the main thread may wait for a group to keep the program alive: events come, or did
  /// until a moment ago, or another thread of the program may wait for them.
  func isKeptAlive(_ main: ThreadRecord) -> Bool {
    !isQuiet || mayGetEvents() || strangers().areThere
  }

  /// What may hang. Findings say more, except of a main queue that nothing drains.
  package func possibilities(beside findings: [Finding]) -> [Possibility] {
    guard findings.isEmpty, isQuiet else { return undrained() }
    return undrained() + semaphores() + keptAlive() + locks() + notifications()
  }

  /// A main queue with work in a program whose main thread sleeps elsewhere than in dispatchMain(),
  /// and has never been there. It may come there later.
  private func undrained() -> [Possibility] {
    snapshot.queues.values.filter { queue in
      queue.undrainedSince != 0 && age(queue.undrainedSince) >= stuckAfter
        && isAsleep(UInt32(truncatingIfNeeded: snapshot.process)) == true
    }.map { queue in
      let since = duration(age(queue.undrainedSince))
      // The program's own wait, not a run loop or a sleep.
      let main = snapshot.threads.first { $0.isMain && $0.activity == .waiting && isOld($0) }
      if let main {
        return Possibility(
          headline: "Possibly stuck: the main queue has had work for \(since), and the main thread "
            + "waits for \(waitWords(main)).",
          details: ["\(describe(main)) \(doing(main))"] + Self.replacement(of: main.wait))
      }
      return Possibility(
        headline: "Possibly stuck: the main queue has had work for \(since), and nothing drains "
          + "it.",
        details: [
          "Call dispatchMain() at the end of a synchronous main function.",
          "An async main function, and Foundation's run loop, drain the main queue only in a program "
            + "that embeds the engine: depend on GrandCentralDropIn and keep `import Dispatch`.",
        ])
    }
  }

  /// What to do instead of a wait of the main thread, while the main queue has work.
  private static func replacement(of wait: BoardWaitKind) -> [String] {
    switch wait {
    case .group, .semaphore, .workItem:
      [
        "If the wait ends by work on the main queue, it never ends: use notify() or a completion "
          + "handler, and let the main thread call dispatchMain()."
      ]
    // Neither replaces these.
    case .queue, .loop, .once, .file, .none: []
    }
  }

  /// What to say where nothing is stuck: where to look, or by which time that was judged and what
  /// waits behind items that sleep.
  package var wordsOfNoFinding: [String] {
    let idle = idleWords
    return idle.isEmpty ? [judgement] + sleepers : idle
  }

  /// By which time a wait was judged.
  private var judgement: String {
    let old = waiting.count { isOld(snapshot.threads[$0]) }
    let time = stuckAfter == 0 ? "" : " for \(duration(stuckAfter)) or longer"
    if old == 0 { return stuckAfter == 0 ? "No thread waits." : "No thread has waited\(time)." }
    let waiters = old == 1 ? "1 thread has" : "\(old) threads have"
    return "\(waiters) waited\(time), for what other threads or events may bring."
  }

  /// Items that sleep or wait for long, and what waits behind them. A program may read from a
  /// descriptor in this way for ever.
  private var sleepers: [String] {
    let all = snapshot.threads.filter { thread in
      switch thread.activity {
      case .none, .idle: false
      case .running:
        // The record of another thread keeps the queue that the thread has left.
        (thread.isWorker || thread.isMain && thread.queue != 0)
          && age(thread.queue != 0 ? thread.queueSince : thread.since) >= stuckAfter
          && isAsleep(thread.id) == true
      case .waiting: isOld(thread) && (thread.isWorker || !thread.held.isEmpty)
      }
    }
    return all.prefix(4).flatMap { thread in
      behind([thread]).map { "\(describe(thread)) \(doing(thread)). \($0)" }
    }
  }

  /// Where to look if the board has shown no work for as long as a wait must last to be reported.
  /// Queues do not show what is missing there.
  private var idleWords: [String] {
    guard isQuiet, snapshot.threads.allSatisfy({ $0.activity == .idle || $0.isOutside }),
      !snapshot.queues.values.contains(where: \.hasWaitingWork)
    else { return [] }
    // Without a worker, which may have ended, since when is not known.
    let time = snapshot.threads.filter { $0.activity == .idle }.map { age($0.since) }.min()
    let shown = time.map { "has shown no work for \(duration($0))" } ?? "shows no work"
    return [
      "The board \(shown), and no thread waits.",
      "If the program should be doing something, look for what would submit it: a leave() before a "
        + "notify(), a completion handler, an event, the resume of a task's continuation.",
      "A task that is suspended is in no queue, so the board does not show it.",
    ] + (pendingWords.map { ["\($0): each enter() needs a leave()."] } ?? [])
  }

  /// What waits for groups without a thread, such as a task in `await group.finished()`.
  private var pendingWords: String? {
    let number = snapshot.pendingNotifications
    if number == 0 { return nil }
    let group = number == 1 ? "a group that has" : "groups that have"
    return Self.count(UInt64(number), "notification", "wait") + " for \(group) members"
  }

  /// Notifications of groups in a program to which no event can come.
  private func notifications() -> [Possibility] {
    guard let pendingWords, !mayGetEvents() else { return [] }
    return [
      Possibility(
        headline: "Possibly stuck: \(pendingWords), and no thread has work that could leave.",
        details: [
          "Each notify(), and each task in finished(), is one.",
          "Call leave() once per enter(), on every path.", Self.advice,
        ])
    ]
  }

  private static var advice: String {
    "A program that waits for events looks the same. If this one does, nothing is wrong."
  }

  /// Semaphores for which threads wait.
  private func semaphores() -> [Possibility] {
    let waiters = waiting.map { snapshot.threads[$0] }.filter { $0.wait == .semaphore && isOld($0) }
    return Dictionary(grouping: waiters, by: \.object)
      .sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.prefix(4).map { _, all in
        let own = all.lazy.compactMap { ($0.held + [$0.queue]).first { $0 != 0 } }.first
        let place = own.map { " in queue '\(label($0))'" } ?? ""
        return Possibility(
          headline: "Possibly stuck: \(Self.threads(all.count, "wait")) for one semaphore\(place), "
            + "and no thread has work that could signal it.",
          details: all.prefix(8).map { "\(describe($0)) \(doing($0))" } + behind(all) + [
            "Call signal() once per wait(), on every path, and not on a thread or queue that waits.",
            Self.advice,
          ])
      }
  }

  /// A main thread that waits for a group while events may come.
  private func keptAlive() -> [Possibility] {
    waiting.map { snapshot.threads[$0] }.filter { $0.isMain && $0.wait == .group && isOld($0) }.map
    {
      Possibility(
        headline: "Possibly stuck: the main thread waits for a group, and no thread has work that "
          + "could leave it. A timer, a descriptor or a thread of the program may.",
        details: [
          "\(describe($0)) \(doing($0))", "Call leave() once per enter(), on every path.",
          Self.advice,
        ])
    }
  }

  /// Items that sleep on a lock or a condition of the system's library.
  private func locks() -> [Possibility] {
    let sleepers = snapshot.threads.filter {
      $0.activity == .running && $0.queue != 0 && age($0.queueSince) >= stuckAfter
        && isInLock($0.id)
    }
    guard let first = sleepers.first else { return [] }
    return [
      Possibility(
        headline: "Possibly stuck: an item of queue '\(label(first.queue))' sleeps on a lock or a "
          + "condition, and no thread has work that could end that.",
        details: sleepers.prefix(8).map { "\(describe($0)) \(doing($0))" } + behind(sleepers)
          + [Self.advice])
    ]
  }
}

extension ThreadRecord {
  /// Whether the thread runs code of the program that no queue knows of. A worker without a queue
  /// may run an item of a global queue.
  fileprivate var isOutside: Bool { activity == .running && queue == 0 && !isWorker }
}

extension QueueRecord {
  /// Whether the board shows work that no thread has begun. The count of a suspended queue's items
  /// stays on the board after the resume.
  fileprivate var hasWaitingWork: Bool {
    undrainedSince != 0 || suspendedSince != 0 && queuedSuspended > 0
  }
}

extension Analysis {
  /// Groups for which a thread waits, while no thread of the process has work that could leave one.
  func forgottenLeave() -> [Finding] {
    let waiters = waiting.map { snapshot.threads[$0] }.filter { $0.wait == .group && isOld($0) }
    if waiters.isEmpty { return [] }
    let hasWork = snapshot.threads.contains { thread in
      switch thread.activity {
      case .none, .idle: false
      case .running: isAsleep(thread.id) != true
      case .waiting: thread.wait != .group
      }
    }
    if hasWork || strangers().areAwake { return [] }
    if waiters.allSatisfy({ $0.isMain && isKeptAlive($0) }) { return [] }
    return Dictionary(grouping: waiters, by: \.object).sorted { $0.key < $1.key }.map {
      Finding(
        kind: .forgottenLeave, subject: "\($0)",
        headline: "Suspected forgotten leave: \(Self.threads($1.count, "wait")) for a group, "
          + "and no thread has work that could leave it.",
        details: $1.map { "\(describe($0)) \(doing($0))" } + behind($1) + [
          "Call leave() once per enter(), on every path."
        ])
    }
  }

  /// What does not run before threads continue, and so cannot make them continue: the work of
  /// serial queues, and the jobs of actors. How much of it waits, the board does not show.
  private func behind(_ threads: [ThreadRecord]) -> [String] {
    func serialPlaces(_ thread: ThreadRecord) -> [UInt32] {
      (thread.activity == .waiting ? thread.held : [thread.queue]).filter {
        snapshot.queues[$0].map { $0.kind == .serial || $0.kind == .main } ?? false
      }
    }
    let places = Set(threads.flatMap(serialPlaces)).sorted()
    let queues = places.prefix(4).map {
      "Work on queue '\(label($0))' does not run before that ends, so it cannot end it."
    }
    guard threads.contains(where: { $0.isWorker && serialPlaces($0).isEmpty }), mayHaveActors()
    else { return queues }
    return queues + [
      "If this is the job of an actor, the actor's other jobs do not run before that ends, and the "
        + "board does not show them."
    ]
  }
}

/// The threads of a program that have no record on its board: they have not waited for anything of
/// the engine, and may do so, or leave a group, at any time.
package struct Strangers {
  package var areThere = false
  /// Whether one of them does not sleep, or has not slept all the time between two looks.
  package var areAwake = false

  package init() {}

  /// The threads as the kernel knows them, by id.
  typealias Known = [UInt32: KernelThread]

  init(_ before: Known, _ now: Known) {
    areThere = !now.isEmpty
    areAwake = now.contains { !$0.value.isAsleep || before[$0.key] != $0.value }
  }

  /// Reads the threads of a process that have no record in `snapshot`, without those of the engine.
  static func known(in process: Int, beside snapshot: Snapshot) -> Known {
    var known: Known = [:]
    let recorded = Set(snapshot.threads.map(\.id))
    for thread in KernelThread.all(of: process) where !recorded.contains(thread) {
      guard let name = readText("/proc/\(process)/task/\(thread)/comm"),
        !BoardLayout.engineThreadPrefixes.contains(where: name.hasPrefix)
      else { continue }
      known[thread] = KernelThread(thread, of: process)
    }
    return known
  }
}
