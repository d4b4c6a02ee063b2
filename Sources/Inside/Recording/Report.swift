// What a recording says about each queue: items, waits, run times, and the queues that limit it.

/// The numbers of one queue.
package struct QueueReport: Sendable {
  package var queue: RecordedQueue
  /// The index of the queue in the recording.
  package var index: Int
  package var items = 0
  /// Sorted, in nanoseconds.
  package var waits: [UInt64] = []
  package var runs: [UInt64] = []
  package var busyNanoseconds: UInt64 = 0
  /// The time in which items of a serial queue run, out of the recording's time.
  package var busyShare = 0.0

  /// Whether it is a serial queue that runs items nearly all the time while others wait.
  var isHot = false

  static func percentile(_ sorted: [UInt64], _ percent: Int) -> UInt64? {
    sorted.isEmpty ? nil : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
  }
}

package struct Report: Sendable {
  package let recording: Recording
  /// The busiest queue first.
  package let queues: [QueueReport]
  package let findings: [RecordedFinding]

  package init(_ recording: Recording) {
    self.recording = recording
    var found = recording.queues.enumerated().map { QueueReport(queue: $1, index: $0) }
    for item in recording.items {
      found[item.queue].items += 1
      if let waited = item.waited { found[item.queue].waits.append(waited) }
      if let ran = item.ran {
        found[item.queue].runs.append(ran)
        found[item.queue].busyNanoseconds &+= ran
      }
    }
    let total = Double(max(1, recording.end &- recording.start))
    queues = found.filter { $0.items > 0 }.map { queue in
      var queue = queue
      queue.waits.sort()
      queue.runs.sort()
      queue.busyShare = Double(queue.busyNanoseconds) * Double(recording.interval) / total
      queue.isHot = Self.isHot(queue, recording.interval)
      return queue
    }.sorted { ($0.busyNanoseconds, $0.items) > ($1.busyNanoseconds, $1.items) }
    findings = RecordedAnalysis(recording, queues).findings()
  }

  private static func isHot(_ queue: QueueReport, _ interval: Int) -> Bool {
    guard queue.queue.kind == .serial || queue.queue.kind == .main, queue.busyShare >= 0.8,
      queue.items * interval >= 100, let waited = QueueReport.percentile(queue.waits, 50),
      let ran = QueueReport.percentile(queue.runs, 50)
    else { return false }
    // If one item takes most of the time, that item is to blame, not their number.
    return waited >= 10 * max(1, ran) && (queue.runs.last ?? 0) <= queue.busyNanoseconds / 2
  }

  package func text() -> String {
    var lines: [String] = []
    for finding in findings {
      lines.append(finding.headline)
      lines += finding.details.map { "  \($0)" }
    }
    if findings.isEmpty { lines.append("Nothing in the recording limits the program.") }
    let seconds = Double(recording.end &- recording.start) / 1e9
    lines.append("")
    lines.append(
      "'\(recording.name)' (process \(recording.process)): \(recording.items.count) items in "
        + "\(Self.fixed(seconds, 3)) s, \(recording.waits.count) waits.")
    if recording.interval > 1 {
      lines.append("One item in \(recording.interval) was recorded; rates are those of all items.")
    }
    if recording.unstarted > 0 {
      lines.append("\(recording.unstarted) items were submitted and had not started at the end.")
    }
    if recording.lostWords > 0 {
      lines.append(
        "Events were overwritten before they were read: \(recording.lostWords &* 8) bytes. "
          + "Use --sampled.")
    }
    lines.append("")
    lines.append(
      "   ITEMS  ITEMS/S     WAIT p50  p99        RUN p50  p99        BUSY  QUEUE")
    for queue in queues {
      let rate = seconds > 0 ? Double(queue.items * recording.interval) / seconds : 0
      lines.append(
        [
          Self.left(String(queue.items), 8), Self.left(Self.fixed(rate, 0), 9),
          Self.left(Self.time(QueueReport.percentile(queue.waits, 50)), 13),
          Self.left(Self.time(QueueReport.percentile(queue.waits, 99)), 9),
          Self.left(Self.time(QueueReport.percentile(queue.runs, 50)), 11),
          Self.left(Self.time(QueueReport.percentile(queue.runs, 99)), 9),
          Self.left(Self.percent(queue.busyShare), 8), "  \(queue.queue.label)",
        ].joined())
    }
    lines.append("")
    lines.append("Closures of sync() are not counted: they run on the calling thread.")
    return lines.joined(separator: "\n") + "\n"
  }

  package func json() -> String {
    let rows = queues.map { queue in
      let fields: [(String, UInt64?)] = [
        ("waitP50", QueueReport.percentile(queue.waits, 50)),
        ("waitP99", QueueReport.percentile(queue.waits, 99)),
        ("runP50", QueueReport.percentile(queue.runs, 50)),
        ("runP99", QueueReport.percentile(queue.runs, 99)),
      ]
      let times = fields.map { "\"\($0.0)\":\($0.1.map(String.init) ?? "null")" }
      return "{\"queue\":\(Self.quoted(queue.queue.label)),"
        + "\"kind\":\"\(queue.queue.kind.rawValue)\","
        + "\"items\":\(queue.items),\"busyNanoseconds\":\(queue.busyNanoseconds),"
        + times.joined(separator: ",") + "}"
    }
    let hot = queues.filter(\.isHot).map { Self.quoted($0.queue.label) }.joined(separator: ",")
    let found = findings.map { finding in
      "{\"kind\":\"\(finding.kind.rawValue)\",\"queue\":\(Self.quoted(finding.queue)),"
        + "\"headline\":\(Self.quoted(finding.headline)),\"details\":["
        + finding.details.map(Self.quoted).joined(separator: ",") + "]}"
    }.joined(separator: ",")
    return "{\"process\":\(recording.process),\"items\":\(recording.items.count),"
      + "\"unstarted\":\(recording.unstarted),\"lostBytes\":\(recording.lostWords &* 8),"
      + "\"nanoseconds\":\(recording.end &- recording.start),\"findings\":[\(found)],\"hotQueues\":[\(hot)],"
      + "\"queues\":[" + rows.joined(separator: ",") + "]}\n"
  }

  // MARK: Texts

  /// "1 item waits", "2 items wait".
  static func count(_ number: Int, _ noun: String, _ verb: String) -> String {
    number == 1 ? "1 \(noun) \(verb)s" : "\(number) \(noun)s \(verb)"
  }

  static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  static func percent(_ share: Double) -> String {
    share < 1e6 ? "\(Int(share * 100)) %" : "?"
  }

  static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value < 1e15 else { return "?" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    if digits == 0 { return String(scaled) }
    let rest = String(scaled % scale)
    let zeros = String(repeating: "0", count: digits - rest.count)
    return "\(scaled / scale).\(zeros)\(rest)"
  }

  static func time(_ nanoseconds: UInt64?) -> String {
    guard let nanoseconds else { return "-" }
    let value = Double(nanoseconds)
    if value < 1e3 { return "\(nanoseconds) ns" }
    if value < 1e6 { return "\(fixed(value / 1e3, 1)) us" }
    if value < 1e9 { return "\(fixed(value / 1e6, 1)) ms" }
    return "\(fixed(value / 1e9, 1)) s"
  }

  static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": out += "\\\(scalar)"
      case _ where scalar.value < 32: out += "?"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
