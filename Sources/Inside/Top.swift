// What a program did in the last second, queue by queue, for `grandcentral top`: events of the
// board, joined as they come, beside a look at the board itself.
// Events of threads come in any order. Those that are older than the pass before last are joined by
// time: every event of that time has been read by then, unless its thread was stopped between the
// clock and the store. Such an item is counted without its wait.
import CGrandCentralLinux
import GrandCentralCore
import GrandCentralPrimitives

/// One queue in one interval.
package struct QueueActivity: Sendable {
  package var label: String
  package var kind: QueueRecord.Kind
  /// Items that started, each standing for as many as are not recorded.
  package var items = 0
  /// Nanoseconds, sorted.
  package var waits: [UInt64] = []
  package var runs: [UInt64] = []
  /// Nanoseconds in which items ran, of all threads.
  package var busy: UInt64 = 0
  /// Items that were submitted and have not started; `nil`: not known.
  package var queued: Int?
  /// Whether more may wait, which were submitted before the program was followed.
  package var queuedIsAtLeast = false
  /// The threads at work, and what is known of their items' time, in words.
  package var now = ""
}

/// A process in one interval.
package struct Activity {
  package var dump: Dump
  package var seconds: Double
  package var queues: [QueueActivity]
  /// Times that threads slept and woke, of all threads.
  package var wakeUps: Int
  package var cpuSeconds: Double
  /// One item in this number is recorded.
  package var interval: Int
  package var lostBytes: UInt64
}

/// Follows a process.
package final class Top {
  package let process: Int
  private let board: BoardFile
  private var lease: Lease
  private let level: EventLevel
  /// Whether this object makes the program record, or another recorder does.
  private let owns: Bool
  private var reader = EventReader()
  private var waiting: [Event] = []
  private var passes: (last: UInt64, before: UInt64)
  private var submitted: [UInt64: Event] = [:]
  private var running: [UInt32: [Start]] = [:]
  private var found: [Key: Counts] = [:]
  /// Queues whose waiting items were all submitted since events are followed: one of these has
  /// started, and queues start items in their order. Not global queues, which have no order.
  private var wholly: Set<Key> = []
  private var lostBefore: UInt64 = 0
  private var since: UInt64
  private var usage: Usage

  private struct Event {
    let thread: UInt32
    let raw: RawEvent
  }
  private struct Start {
    let key: Key
    let ticks: UInt64
  }
  /// A queue, or the global queue of a band, which has no place.
  private struct Key: Hashable {
    let place: UInt32
    let band: UInt8
    init(place: UInt32, band: UInt8) {
      self.place = place
      self.band = place == 0 ? band : 0
    }
  }
  private struct Counts {
    var items = 0
    var waits: [UInt64] = []
    var runs: [UInt64] = []
    var busy: UInt64 = 0
    var queued = 0
  }

  /// Begins to follow. Another recorder's recording is shared.
  package init(process: Int, level wanted: EventLevel) throws {
    self.process = process
    board = try BoardFile.open(process: process, forWriting: true)
    _ = try Snapshot(board)
    lease = Lease(board)
    let other = lease.otherLevel
    owns = other == nil
    level = other ?? wanted
    reader.skip(board)
    passes = (lease.now, 0)
    since = gc_monotonic()
    usage = Usage(of: process)
    guard owns else { return }
    board.prepareEvents()
    try lease.begin(level)
  }

  /// Ends the recording. The program may have ended.
  package func end() {
    if owns { try? lease.end() }
  }

  /// How many items one recorded item stands for.
  private var interval: Int { level == .sampled ? Int(EventLayout.sampleInterval) : 1 }

  /// Reads events. Call about ten times a second: the program keeps the last megabytes only.
  package func collect() throws {
    if owns { try lease.renewIfDue() }
    let now = lease.now
    for batch in reader.read(board) {
      waiting += RawEvent.all(in: batch).map { Event(thread: batch.thread, raw: $0) }
    }
    if reader.lostWords != lostBefore { forgetQueued() }
    lostBefore = reader.lostWords
    let ripe = passes.before
    passes = (now, passes.last)
    let old = waiting.filter { $0.raw.ticks < ripe }
    waiting.removeAll { $0.raw.ticks < ripe }
    for event in Self.inOrder(old) { join(event) }
  }

  /// Events by time. Stable: a thread's own events keep their order.
  private static func inOrder(_ events: [Event]) -> [Event] {
    events.indices.sorted { (events[$0].raw.ticks, $0) < (events[$1].raw.ticks, $1) }
      .map { events[$0] }
  }

  /// After a loss it is not known which items still wait.
  private func forgetQueued() {
    submitted = [:]
    running = [:]
    wholly = []
    for key in found.keys { found[key]?.queued = 0 }
  }

  private func join(_ event: Event) {
    let raw = event.raw
    let key = Key(place: UInt32(raw.place), band: raw.detail)
    switch raw.kind {
    case .submit:
      if let stale = submitted.updateValue(event, forKey: raw.address) {
        found[Key(place: UInt32(stale.raw.place), band: stale.raw.detail)]?.queued -= 1
      }
      found[key, default: Counts()].queued += 1
    case .start, .sourceStart:
      found[key, default: Counts()].items += 1
      if let origin = submitted.removeValue(forKey: raw.address) {
        let awaited = Key(place: UInt32(origin.raw.place), band: origin.raw.detail)
        found[awaited]?.queued -= 1
        if awaited.place != 0 { wholly.insert(awaited) }
        if raw.ticks > origin.raw.ticks {
          found[key]?.waits.append(raw.ticks - origin.raw.ticks)
        }
      }
      running[event.thread, default: []].append(Start(key: key, ticks: raw.ticks))
    case .end:
      guard let start = running[event.thread]?.popLast(), raw.ticks >= start.ticks else { return }
      found[start.key]?.runs.append(raw.ticks - start.ticks)
      found[start.key]?.busy += raw.ticks - start.ticks
    default: break
    }
  }

  /// What happened since the last call, and what happens now.
  package func activity(stuckAfter: UInt64) throws -> Activity {
    try collect()
    let dump = try Dump(board, process: process, stuckAfter: stuckAfter)
    let now = gc_monotonic()
    let rate = lease.ticksPerNanosecond ?? 1
    let seconds = max(Double(now &- since) / 1e9, 1e-3)
    since = now
    let usage = Usage(of: process)
    defer {
      self.usage = usage
      found = found.compactMapValues { $0.queued > 0 ? Counts(queued: $0.queued) : nil }
    }
    return Activity(
      dump: dump, seconds: seconds, queues: rows(dump, rate),
      wakeUps: max(0, usage.switches - self.usage.switches),
      cpuSeconds: max(0, usage.cpuSeconds - self.usage.cpuSeconds), interval: interval,
      lostBytes: reader.lostWords &* 8)
  }

  private func rows(_ dump: Dump, _ rate: Double) -> [QueueActivity] {
    var rows: [Key: QueueActivity] = [:]
    func row(_ key: Key) -> QueueActivity {
      if let row = rows[key] { return row }
      if key.place == 0 {
        return QueueActivity(label: FindingWords.globalQueue(band: key.band), kind: .global)
      }
      let kind = dump.analysis.snapshot.queues[key.place]?.kind ?? .unknown
      return QueueActivity(label: dump.analysis.label(key.place), kind: kind)
    }
    func nanoseconds(_ ticks: UInt64) -> UInt64 { UInt64(Double(ticks) / rate) }
    for (key, counts) in found {
      var row = row(key)
      row.items = counts.items * interval
      row.waits = counts.waits.map(nanoseconds).sorted()
      row.runs = counts.runs.map(nanoseconds).sorted()
      row.busy = nanoseconds(counts.busy) * UInt64(interval)
      row.queued = interval == 1 ? max(0, counts.queued) : nil
      row.queuedIsAtLeast = interval == 1 && !wholly.contains(key)
      rows[key] = row
    }
    let starts = startsNow()
    for thread in dump.analysis.snapshot.threads
    where thread.activity != .idle && thread.queue != 0 {
      let key = Key(place: thread.queue, band: 0)
      var row = row(key)
      let start = starts[thread.id]?.last
      let ran = start?.key == key ? start.map { nanoseconds(passedTicks(since: $0)) } : nil
      row.now += (row.now.isEmpty ? "" : ", ") + thread.name + words(thread, ran, dump.analysis)
      rows[key] = row
    }
    return rows.values.sorted { ($1.busy, $1.items, $0.label) < ($0.busy, $0.items, $1.label) }
  }

  /// How long an item ran at the last pass, which may have read events of a moment later.
  private func passedTicks(since start: Start) -> UInt64 {
    passes.last > start.ticks ? passes.last - start.ticks : 0
  }

  /// The items that each thread was in at the last pass, the outermost first.
  private func startsNow() -> [UInt32: [Start]] {
    var starts = running
    for event in Self.inOrder(waiting) {
      switch event.raw.kind {
      case .start, .sourceStart:
        let key = Key(place: UInt32(event.raw.place), band: event.raw.detail)
        starts[event.thread, default: []].append(Start(key: key, ticks: event.raw.ticks))
      case .end: _ = starts[event.thread]?.popLast()
      default: break
      }
    }
    return starts
  }

  /// What a thread does on its queue. `ran`: the time of its item, if the start was recorded; items
  /// of less than `shortNanoseconds` need no words.
  private func words(_ thread: ThreadRecord, _ ran: UInt64?, _ analysis: Analysis) -> String {
    if thread.activity == .waiting {
      let time = analysis.duration(analysis.age(thread.since))
      return " waits for \(analysis.waitWords(thread)) for \(time)"
    }
    guard let ran else { return analysis.timeOnQueue(thread) }
    return ran < Self.shortNanoseconds ? "" : " for \(analysis.duration(ran))"
  }

  private static var shortNanoseconds: UInt64 { 10_000_000 }
}

/// What the kernel counts of a process.
private struct Usage {
  var switches = 0
  var cpuSeconds = 0.0

  init(of process: Int) {
    for thread in namesInFolder("/proc/\(process)/task") ?? [] {
      let status = readText("/proc/\(process)/task/\(thread)/status") ?? ""
      for line in status.split(separator: "\n") where line.hasPrefix("voluntary_ctxt_switches:") {
        switches += Int(line.drop { !$0.isNumber }) ?? 0
      }
    }
    // proc(5): fields 14 and 15, counted from 1; the name in parentheses may contain spaces.
    let stat = readText("/proc/\(process)/stat") ?? ""
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    if fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) {
      cpuSeconds = (user + system) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }
  }
}
