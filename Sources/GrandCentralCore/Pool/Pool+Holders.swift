// Room: Pool/Pool+Holders. Reports which queues hold the threads when queued work does not start.
import CGrandCentralLinux

extension Pool {
  /// Reports the queues that hold the threads, once for each reason until the monitor sleeps again.
  func reportHolders(_ reason: GrowthPolicy.Report) {
    let holders = holders()
    let threads = holders.reduce(0) { $0 + $1.count }
    if reason == .held && holders.first?.count ?? 0 < GrowthPolicy.Thresholds().heldThreads {
      return
    }
    let bit: UInt8 = 1 << reason.rawValue
    guard reported.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 else { return }
    let tasks = sleepingTasks().map { (name: $0.label, count: $0.count) }
    let details =
      shownHolders()
      ?? FindingWords.counted(
        FindingWords.holders,
        holders.map {
          (name: $0.label == Pool.unnamed ? $0.label : "'\($0.label)'", count: $0.count)
        })
    report(
      .threadLimitReached,
      FindingWords.text(
        "GRAND CENTRAL: \(reason.words(threads: threads))",
        details + FindingWords.counted("Tasks that sleep on them:", tasks) + [reason.advice]))
  }

  /// The lines of the dump about the queues that hold the threads, if the reader of boards is
  /// linked and workers sleep.
  private func shownHolders() -> [String]? {
    guard let text = gc_board_holders_of_process() else { return nil }
    defer { free(text) }
    return String(cString: text).split(separator: "\n").map(String.init)
  }

  /// Returns the queues whose items hold threads, those with the most threads first.
  func holders() -> [(label: String, count: Int)] {
    countWorkers { CurrentLabel.of($0, on: $1, in: self) }
  }

  /// Returns the tasks that sleep on threads in waits of the engine, the most frequent first. A
  /// task that has neither a name nor an actor is not known.
  func sleepingTasks() -> [(label: String, count: Int)] {
    countWorkers { TaskNames.sleeping(on: $1) }
  }

  /// Counts the workers that have an item, by label. Those without a label are left out.
  private func countWorkers(
    _ label: (Worker, ThreadContext) -> String?
  ) -> [(label: String, count: Int)] {
    var counts: [String: Int] = [:]
    for index in 0..<workerCount.load(ordering: .acquiring) {
      guard let worker = worker(at: index), let thread = worker.thread,
        worker.status.load(ordering: .relaxed) != .away, let label = label(worker, thread)
      else { continue }
      counts[label, default: 0] += 1
    }
    return counts.map { (label: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.label) < ($0.count, $1.label) }
  }

  /// The name of a global queue that has no label.
  fileprivate static var unnamed: String { "a global queue" }

  private enum CurrentLabel {
    /// Returns the label of the worker's current queue, or of the global queue of its band.
    static func of(_ worker: Worker, on thread: ThreadContext, in pool: Pool) -> String {
      if let label = CurrentQueueLabels.label(of: thread) { return label }
      let root = pool.rootOfBand[Int(worker.visibleBand.load(ordering: .relaxed))]
      guard let root else { return Pool.unnamed }
      // SAFETY: root queues live as long as the pool that serves them.
      let object = Unmanaged<AnyObject>.fromOpaque(root).takeUnretainedValue()
      return (object as? any CurrentQueueLabel)?.currentQueueLabel ?? Pool.unnamed
    }
  }
}

extension GrowthPolicy.Report {
  fileprivate func words(threads: Int) -> String {
    switch self {
    case .limit:
      """
      \(threads) threads are held by items that do not end, the most there may be, and more work \
      is queued. It \
      runs when one of these items ends. If they wait for what is queued, this is a deadlock.
      """
    case .held:
      """
      Nothing that is queued has begun for some seconds: \(threads) threads are held by items that \
      do not end.
      """
    case .refused:
      """
      Nothing that is queued has begun for some seconds: the system refuses more threads, and \
      \(threads) are held \
      by items that do not end.
      """
    }
  }

  fileprivate var advice: String {
    switch self {
    case .limit, .held:
      FindingWords.explosionAdvice
    case .refused:
      "Bound the number of items that wait at a time, or raise the limit on threads."
    }
  }
}
