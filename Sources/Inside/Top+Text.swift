// The table of `grandcentral top`, as text and as JSON.

extension Activity {
  /// The lines of the table, without the end of a line.
  package func lines(_ style: Style) -> [String] {
    let snapshot = dump.analysis.snapshot
    func threads(_ activity: BoardActivity) -> Int {
      snapshot.threads.count { $0.activity == activity }
    }
    var lines = [
      dump.findings.first.map { style.alarm($0.headline) } ?? style.good("Nothing is stuck."),
      "process \(snapshot.process) '\(snapshot.name)': \(snapshot.threads.count) threads, "
        + "\(threads(.running)) run, \(threads(.waiting)) wait, \(threads(.idle)) idle; "
        + "width \(snapshot.width); \(Report.fixed(Double(wakeUps) / seconds, 0)) wake-ups/s; "
        + "CPU \(Report.percent(cpuSeconds / seconds))",
    ]
    if interval > 1 { lines.append("One item in \(interval) is recorded.") }
    if lostBytes > 0 {
      lines.append("Events were overwritten before they were read: \(lostBytes) bytes.")
    }
    lines.append(
      style.title(
        "  ITEMS/S     WAIT p50  p99        RUN p50  p99        BUSY   QUEUED  QUEUE, AND WHAT RUNS"
      ))
    return lines + queues.map(line)
  }

  private func line(_ queue: QueueActivity) -> String {
    [
      Report.left(Report.fixed(Double(queue.items) / seconds, 0), 9),
      Report.left(Report.time(QueueReport.percentile(queue.waits, 50)), 13),
      Report.left(Report.time(QueueReport.percentile(queue.waits, 99)), 9),
      Report.left(Report.time(QueueReport.percentile(queue.runs, 50)), 11),
      Report.left(Report.time(QueueReport.percentile(queue.runs, 99)), 9),
      Report.left(Report.percent(Double(queue.busy) / 1e9 / seconds), 8),
      Report.left(queue.queuedWords, 9),
      "  \(queue.label)", queue.now.isEmpty ? "" : "  (\(queue.now))",
    ].joined()
  }

  /// One object in one line.
  package func json() -> String {
    let snapshot = dump.analysis.snapshot
    func rate(_ count: Int) -> JSON { .number(UInt64(max(0, Double(count) / seconds))) }
    func time(_ sorted: [UInt64], _ percent: Int) -> JSON {
      QueueReport.percentile(sorted, percent).map { .number($0) } ?? .null
    }
    let rows = queues.map { queue in
      JSON.object([
        ("queue", .text(queue.label)), ("kind", .text(queue.kind.rawValue)),
        ("itemsPerSecond", rate(queue.items)),
        ("waitP50Nanoseconds", time(queue.waits, 50)),
        ("waitP99Nanoseconds", time(queue.waits, 99)),
        ("runP50Nanoseconds", time(queue.runs, 50)), ("runP99Nanoseconds", time(queue.runs, 99)),
        ("busyNanoseconds", .number(queue.busy)),
        ("queued", queue.queued.map { .number(UInt64(max(0, $0))) } ?? .null),
        ("queuedIsAtLeast", .flag(queue.queuedIsAtLeast)),
        ("now", .text(queue.now)),
      ])
    }
    let threads: [(String, JSON)] = [
      ("running", .running), ("waiting", .waiting), ("idle", .idle),
    ].map { name, activity in
      (name, .number(UInt64(snapshot.threads.count { $0.activity == activity })))
    }
    return JSON.object([
      ("process", .number(UInt64(snapshot.process))), ("name", .text(snapshot.name)),
      ("milliseconds", .number(UInt64(seconds * 1000))),
      ("findings", .list(dump.findings.map { .text($0.headline) })),
      ("threads", .object(threads)), ("wakeUpsPerSecond", rate(wakeUps)),
      ("cpuPercent", .number(UInt64(cpuSeconds / seconds * 100))),
      ("interval", .number(UInt64(interval))), ("lostBytes", .number(lostBytes)),
      ("queues", .list(rows)),
    ]).text
  }
}

extension QueueActivity {
  /// "199"; "199+" if there may be more; "-" if nothing is known.
  fileprivate var queuedWords: String {
    guard let queued, queued > 0 || !queuedIsAtLeast else { return "-" }
    return "\(queued)\(queuedIsAtLeast ? "+" : "")"
  }
}
